import { DOMException } from '../dom-exception.ts';
import { tooFew } from '../web-idl.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Base64 of a text whose characters are bytes (HTML 8.3). */
export function btoa(data: unknown): string {
  if (arguments.length === 0) throw tooFew('btoa', 1);
  const text = String(data);
  let out = '';
  for (let index = 0; index < text.length; index += 3) {
    const group = (byteAt(text, index) << 16) | (byteAt(text, index + 1) << 8) | byteAt(text, index + 2);
    const left = text.length - index;
    out += digit(group >> 18) + digit(group >> 12);
    out += (left > 1 ? digit(group >> 6) : '=') + (left > 2 ? digit(group) : '=');
  }
  return out;
}

/** The bytes of a base64 text as characters; ASCII white space is skipped, padding may be absent (Infra 6). */
export function atob(data: unknown): string {
  if (arguments.length === 0) throw tooFew('atob', 1);
  const text = String(data).replace(/[\t\n\f\r ]/g, '');
  const body = text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text;
  if (body.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(body)) {
    throw new DOMException('The string to be decoded is not correctly encoded.', 'InvalidCharacterError');
  }
  let out = '';
  let bits = 0;
  let held = 0;
  for (let index = 0; index < body.length; index++) {
    held = ((held << 6) | ALPHABET.indexOf(body.charAt(index))) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += String.fromCharCode((held >> bits) & 0xff);
  }
  return out;
}

function byteAt(text: string, index: number): number {
  if (index >= text.length) return 0;
  const unit = text.charCodeAt(index);
  if (unit > 0xff) throw new DOMException('The string contains characters outside of Latin1.', 'InvalidCharacterError');
  return unit;
}

function digit(bits: number): string {
  return ALPHABET.charAt(bits & 63);
}
