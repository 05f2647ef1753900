import { DOMException } from '../dom-exception.ts';
import { tooFew } from '../web-idl.ts';
import { base64Of, bytesFromBase64 } from './bytes.ts';
import { latin1Bytes, latin1Text } from './latin1.ts';

/** Base64 of a text whose characters are bytes (HTML 8.3). */
export function btoa(data: unknown): string {
  if (arguments.length === 0) throw tooFew('btoa', 1);
  const text = String(data);
  if (/[^\0-\xff]/.test(text)) {
    throw new DOMException('The string contains characters outside of Latin1.', 'InvalidCharacterError');
  }
  return base64Of(latin1Bytes(text));
}

/** The bytes of a base64 text as characters; ASCII white space is skipped, padding may be absent (Infra 6). */
export function atob(data: unknown): string {
  if (arguments.length === 0) throw tooFew('atob', 1);
  const text = String(data).replace(/[\t\n\f\r ]/g, '');
  const body = text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text;
  if (body.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(body)) {
    throw new DOMException('The string to be decoded is not correctly encoded.', 'InvalidCharacterError');
  }
  return latin1Text(bytesFromBase64(body));
}
