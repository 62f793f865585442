// Signs requests as the service does; the key never leaves this page.

const text = new TextEncoder();

/** Encodes bytes in unpadded base64url. */
function base64URL(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function hexadecimal(bytes) {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The reason why keys cannot be used here; an empty text if they can. */
export const obstacle = globalThis.crypto?.subtle
  ? ""
  : "This browser can sign only on pages from https or localhost.";

export class SigningKey {
  /** Imports a key from hexadecimal text; throws an error with a message for the user. */
  static async read(hex) {
    if (obstacle) throw new Error(obstacle);
    if (!/^([0-9a-f]{2})+$/i.test(hex)) throw new Error("Must be hexadecimal, two digits for each byte.");
    if (hex.length < 64) throw new Error("Must have 64 digits or more; it has " + hex.length + ".");
    const bytes = Uint8Array.from(hex.match(/../g), (digits) => parseInt(digits, 16));
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    return new SigningKey(key);
  }

  constructor(key) {
    this.key = key;
  }

  async code(message) {
    return base64URL(await crypto.subtle.sign("HMAC", this.key, text.encode(message)));
  }

  /** Appends the signature to a target (path and query) as the last parameter. */
  async signed(target) {
    return target + "&sig=" + (await this.code(target));
  }

  /** The value of Alula-Signature for a POST with this body. */
  async bodySignature(target, bytes) {
    return this.code("POST\n" + target + "\n" + hexadecimal(await crypto.subtle.digest("SHA-256", bytes)));
  }
}
