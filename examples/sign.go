// Signs requests to Alula, and verifies its callbacks:
//
//   go run sign.go KEY SOURCE [NAME=VALUE ...]        prints the signed target of a thumbnail
//   go run sign.go --post KEY TARGET < BODY           prints the value of Alula-Signature for a POST
//   go run sign.go --verify KEY TARGET CODE < BODY    ends with status 0 if a callback has a valid Alula-Signature
//
// KEY is hexadecimal, one of the service's `signingKeys`, or a tenant's: then the last parameter is key=ID, and so is
// TARGET's. TARGET is the path with its query, exactly as sent. Needs the standard library only.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
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
	return target + "&sig=" + code(key, target)
}

func code(key []byte, text string) string {
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

// postSignature is the value of Alula-Signature for a POST to Alula.
func postSignature(key []byte, target string, body []byte) string {
	return code(key, fmt.Sprintf("POST\n%s\n%x", target, sha256.Sum256(body)))
}

// isCallback tells whether a POST with this Alula-Signature comes from Alula.
func isCallback(key []byte, target, signature string, body []byte) bool {
	return hmac.Equal([]byte(postSignature(key, target, body)), []byte(signature))
}

func main() {
	arguments := os.Args[1:]
	command := ""
	if len(arguments) > 0 && strings.HasPrefix(arguments[0], "--") {
		command, arguments = arguments[0], arguments[1:]
	}
	if len(arguments) < 2 || (command == "--verify" && len(arguments) < 3) {
		log.Fatal("usage: go run sign.go [--post | --verify] KEY SOURCE|TARGET ...")
	}
	key, err := hex.DecodeString(arguments[0])
	if err != nil {
		log.Fatal(err)
	}
	if command == "" {
		fmt.Println(signed(key, arguments[1], arguments[2:]))
		return
	}
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if command == "--post" {
		fmt.Println(postSignature(key, arguments[1], body))
	} else if !isCallback(key, arguments[1], arguments[2], body) {
		os.Exit(1)
	}
}
