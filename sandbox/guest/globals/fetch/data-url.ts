import { atob } from '../encoding/base64.ts';
import { TextEncoder } from '../encoding/text-encoder.ts';

/** What a data URL holds. */
export interface DataUrl {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const TYPE = /^[!#$%&'*+\-.^_`|~\w]+\/[!#$%&'*+\-.^_`|~\w]+\s*(;.*)?$/;
const BY_DEFAULT = 'text/plain;charset=US-ASCII';
const BASE64 = /; *base64$/i;

/** Reads a data URL (Fetch Standard 6) as a URL serialises it; null for one that is not well formed. */
export function readDataUrl(href: string): DataUrl | null {
  const [url = ''] = href.split('#', 1);
  const comma = url.indexOf(',');
  if (comma < 0) return null;
  const head = url.slice('data:'.length, comma).trim();
  const body = percentDecoded(url.slice(comma + 1));
  if (!BASE64.test(head)) return { type: typeOf(head), bytes: body };
  try {
    const text = atob(Array.from(body, (byte) => String.fromCharCode(byte)).join(''));
    return { type: typeOf(head.replace(BASE64, '')), bytes: Uint8Array.from(text, (one) => one.charCodeAt(0)) };
  } catch {
    return null;
  }
}

function typeOf(given: string): string {
  const type = given.startsWith(';') ? `text/plain${given}` : given;
  return TYPE.test(type) ? type : BY_DEFAULT;
}

/** The bytes of a percent-encoded text (URL Standard 1.3). */
function percentDecoded(text: string): Uint8Array<ArrayBuffer> {
  const given = new TextEncoder().encode(text);
  const bytes = new Uint8Array(given.length);
  let length = 0;
  for (let at = 0; at < given.length; at++) {
    const pair = given[at] === 0x25 ? String.fromCharCode(given[at + 1] ?? 0, given[at + 2] ?? 0) : '';
    const isByte = /^[\da-f]{2}$/i.test(pair);
    bytes[length++] = isByte ? Number.parseInt(pair, 16) : (given[at] ?? 0);
    if (isByte) at += 2;
  }
  return bytes.slice(0, length);
}
