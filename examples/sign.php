#!/usr/bin/env php
<?php
// Prints the signed target of a thumbnail: php sign.php KEY SOURCE [NAME=VALUE ...]
//
// KEY is hexadecimal, one of the service's `signingKeys`. Needs PHP 7.4 or later and no packages.

/** The target for a source, with its signature as the last parameter. */
function signed(string $key, string $source, array $parameters): string
{
    $target = '/thumbnail?url=' . rawurlencode($source);
    foreach ($parameters as [$name, $value]) {
        $target .= "&$name=" . rawurlencode($value);
    }
    $code = base64_encode(hash_hmac('sha256', $target, hex2bin($key), true));
    return $target . '&sig=' . rtrim(strtr($code, '+/', '-_'), '=');
}

$parameters = array_map(fn($text) => explode('=', $text, 2), array_slice($argv, 3));
echo signed($argv[1], $argv[2], $parameters), "\n";
