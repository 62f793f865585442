// Sends an image to Alula, gets eight sizes and a BlurHash in one call, and writes an HTML picture element.
//
//   dotnet new console -o upload && cp Upload.cs upload/Program.cs
//   dotnet run --project upload PHOTO FOLDER [http://127.0.0.1:8080]
//
// Needs .NET 6 or later and no packages, and a service with `--uploads on`. It keeps to what Mono knows as well:
//
//   mcs -r:System.Net.Http -r:System.Runtime.Serialization Upload.cs && mono Upload.exe PHOTO FOLDER
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Threading.Tasks;

/// <summary>What the example uses of an image's facts.</summary>
[DataContract]
public class Facts
{
    [DataMember(Name = "width")] public int Width { get; set; }
    [DataMember(Name = "height")] public int Height { get; set; }
    [DataMember(Name = "dominantColor")] public string DominantColor { get; set; } = "";
    [DataMember(Name = "blurHash")] public string BlurHash { get; set; } = "";
}

[DataContract]
public class Problem
{
    [DataMember(Name = "detail")] public string Detail { get; set; } = "";
}

/// <summary>One part of the answer: an image as a data: URI, the facts, or a problem.</summary>
[DataContract]
public class Part
{
    [DataMember(Name = "name")] public string Name { get; set; } = "";
    [DataMember(Name = "data")] public string Data { get; set; } = "";
    [DataMember(Name = "facts")] public Facts Facts { get; set; }
    [DataMember(Name = "problem")] public Problem Problem { get; set; }

    public byte[] Bytes { get { return Convert.FromBase64String(Data.Substring(Data.IndexOf(',') + 1)); } }
}

[DataContract]
public class Answer
{
    [DataMember(Name = "renditions")] public List<Part> Renditions { get; set; } = new List<Part>();
}

public static class Upload
{
    private static readonly int[] Widths = { 320, 640, 1280, 1920 };
    private static readonly string[] Formats = { "webp", "jpeg" };

    private static T Json<T>(byte[] bytes)
    {
        return (T)new DataContractJsonSerializer(typeof(T)).ReadObject(new MemoryStream(bytes));
    }

    private static string FileName(string format, int width)
    {
        return format + "-" + width + (format == "jpeg" ? ".jpg" : "." + format);
    }

    private static async Task<Dictionary<string, Part>> Ask(string service, string photo)
    {
        var renditions = Widths.SelectMany(width => Formats.Select(format =>
            "{\"name\":\"" + format + "-" + width + "\",\"query\":\"w=" + width + "&format=" + format + "\"}"));
        var list = "{\"renditions\":[" + string.Join(",", renditions) + ",{\"name\":\"facts\",\"include\":\"color,blurhash\"}]}";
        using (var client = new HttpClient())
        using (var form = new MultipartFormDataContent())
        {
            form.Add(new StringContent(list), "request");
            form.Add(new ByteArrayContent(File.ReadAllBytes(photo)), "file", Path.GetFileName(photo));
            // For more than 16 MiB of images, ask for multipart/mixed or application/x-tar.
            client.DefaultRequestHeaders.Accept.Add(new MediaTypeWithQualityHeaderValue("application/json"));
            var response = await client.PostAsync(service + "/thumbnails", form);
            var body = await response.Content.ReadAsByteArrayAsync();
            if (!response.IsSuccessStatusCode) throw new InvalidOperationException(System.Text.Encoding.UTF8.GetString(body));
            return Json<Answer>(body).Renditions.ToDictionary(part => part.Name);
        }
    }

    public static int Main(string[] arguments)
    {
        return Run(arguments).GetAwaiter().GetResult();
    }

    private static async Task<int> Run(string[] arguments)
    {
        if (arguments.Length < 2)
        {
            Console.Error.WriteLine("Usage: Upload PHOTO FOLDER [SERVICE]");
            return 2;
        }
        var folder = arguments[1];
        var parts = await Ask(arguments.Length > 2 ? arguments[2] : "http://127.0.0.1:8080", arguments[0]);
        foreach (var part in parts.Values.Where(part => part.Problem != null))
        {
            Console.Error.WriteLine(part.Name + ": " + part.Problem.Detail);
            return 1;
        }

        Directory.CreateDirectory(folder);
        foreach (var format in Formats)
            foreach (var width in Widths)
                File.WriteAllBytes(Path.Combine(folder, FileName(format, width)), parts[format + "-" + width].Bytes);

        var facts = parts["facts"].Facts;
        var srcsets = Formats.Select(format =>
            string.Join(", ", Widths.Select(width => FileName(format, width) + " " + width + "w"))).ToArray();
        File.WriteAllText(Path.Combine(folder, "picture.html"),
            "<picture>\n  <source type=\"image/webp\" srcset=\"" + srcsets[0] + "\">\n"
            + "  <img src=\"" + FileName("jpeg", Widths[0]) + "\" srcset=\"" + srcsets[1] + "\" width=\"" + facts.Width
            + "\" height=\"" + facts.Height + "\" data-blurhash=\"" + facts.BlurHash.Replace("&", "&amp;")
            + "\" style=\"background: " + facts.DominantColor + "; height: auto\" alt=\"\">\n</picture>\n");
        Console.WriteLine((parts.Count - 1) + " files and picture.html in " + folder);
        return 0;
    }
}
