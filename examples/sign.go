// Prints the signed target of a thumbnail: go run sign.go KEY SOURCE [NAME=VALUE ...]
//
// KEY is hexadecimal, one of the service's `signingKeys`. Needs the standard library only.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log"
	"net/url"
	"os"
	"strings"
)

// escaped percent-encodes a value; a plus does not stand for a space in Alula's URLs.
func escaped(value string) string {
	return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
}

// signed is the target for a source, with its signature as the last parameter.
func signed(key []byte, source string, parameters []string) string {
	target := "/thumbnail?url=" + escaped(source)
	for _, parameter := range parameters {
		name, value, _ := strings.Cut(parameter, "=")
		target += "&" + name + "=" + escaped(value)
	}
	code := hmac.New(sha256.New, key)
	code.Write([]byte(target))
	return target + "&sig=" + base64.RawURLEncoding.EncodeToString(code.Sum(nil))
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: go run sign.go KEY SOURCE [NAME=VALUE ...]")
	}
	key, err := hex.DecodeString(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(signed(key, os.Args[2], os.Args[3:]))
}
