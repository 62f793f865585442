#!/usr/bin/env php
<?php
// Signs requests to Alula, and verifies its callbacks:
//
//   php sign.php KEY SOURCE [NAME=VALUE ...]        prints the signed target of a thumbnail
//   php sign.php --post KEY TARGET < BODY           prints the value of Alula-Signature for a POST
//   php sign.php --verify KEY TARGET CODE < BODY    ends with status 0 if a callback has a valid Alula-Signature
//
// KEY is hexadecimal, one of the service's `signingKeys`, or a tenant's: then the last parameter is key=ID, and so is
// TARGET's. TARGET is the path with its query, exactly as sent. Needs PHP 7.4 or later and no packages.

/** The target for a source, with its signature as the last parameter. */
function signed(string $key, string $source, array $parameters): string
{
    $target = '/thumbnail?url=' . rawurlencode($source);
    foreach ($parameters as [$name, $value]) {
        $target .= "&$name=" . rawurlencode($value);
    }
    return $target . '&sig=' . code($key, $target);
}

function code(string $key, string $text): string
{
    $code = base64_encode(hash_hmac('sha256', $text, hex2bin($key), true));
    return rtrim(strtr($code, '+/', '-_'), '=');
}

/** The value of Alula-Signature for a POST to Alula. */
function postSignature(string $key, string $target, string $body): string
{
    return code($key, "POST\n$target\n" . hash('sha256', $body));
}

/** Whether a POST with this Alula-Signature comes from Alula. */
function isCallback(string $key, string $target, string $signature, string $body): bool
{
    return hash_equals(postSignature($key, $target, $body), $signature);
}

if ($argv[1] === '--post') {
    echo postSignature($argv[2], $argv[3], stream_get_contents(STDIN)), "\n";
} elseif ($argv[1] === '--verify') {
    exit(isCallback($argv[2], $argv[3], $argv[4], stream_get_contents(STDIN)) ? 0 : 1);
} else {
    $parameters = array_map(fn($text) => explode('=', $text, 2), array_slice($argv, 3));
    echo signed($argv[1], $argv[2], $parameters), "\n";
}
