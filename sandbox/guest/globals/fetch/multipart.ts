import { concatBytes } from '../encoding/bytes.ts';
import { TextDecoder } from '../encoding/text-decoder.ts';
import { TextEncoder } from '../encoding/text-encoder.ts';
import type { BlobClasses } from './blob.ts';
import type { FormDataClass, FormValue } from './form-data.ts';

const encoder = new TextEncoder();
const CRLF = '\r\n';
const BREAKS = /\r\n?|\n/g;

/**
 * Encodes a form as `multipart/form-data` (HTML 4.10.22.8). The boundary is the first of a fixed series that does not
 * occur in the form, so that a form always gives the same bytes.
 */
export function encodeMultipart(
  form: Iterable<[string, FormValue]>,
  bytesIn: BlobClasses['bytesIn'],
): { boundary: string; bytes: Uint8Array<ArrayBuffer> } {
  const parts = [...form].map(([name, value]) => partOf(name, value, bytesIn));
  let boundary = '';
  for (let attempt = 1; boundary === ''; attempt++) {
    const candidate = `----formdata-isolayer-${attempt}`;
    const marker = encoder.encode(candidate);
    if (parts.every((part) => indexOf(part, marker, 0) < 0)) boundary = candidate;
  }
  const delimiter = encoder.encode(`--${boundary}${CRLF}`);
  const pieces = parts.flatMap((part) => [delimiter, part, BREAK]);
  return { boundary, bytes: concatBytes([...pieces, encoder.encode(`--${boundary}--${CRLF}`)]) };
}

function partOf(name: string, value: FormValue, bytesIn: BlobClasses['bytesIn']): Uint8Array {
  const disposition = `Content-Disposition: form-data; name="${escaped(name.replace(BREAKS, CRLF))}"`;
  if (typeof value === 'string') {
    return encoder.encode(`${disposition}${CRLF}${CRLF}${value.replace(BREAKS, CRLF)}`);
  }
  const type = value.type === '' ? 'application/octet-stream' : value.type;
  const head = `${disposition}; filename="${escaped(value.name)}"${CRLF}Content-Type: ${type}${CRLF}${CRLF}`;
  return concatBytes([encoder.encode(head), bytesIn(value) ?? new Uint8Array()]);
}

/**
 * Reads `multipart/form-data` (RFC 7578) into a form.
 * @throws TypeError when the bytes are not in that format
 */
export function decodeMultipart(
  bytes: Uint8Array,
  boundary: string,
  { FormData, File }: { FormData: FormDataClass; File: BlobClasses['File'] },
): InstanceType<FormDataClass> {
  const form = new FormData();
  const marker = encoder.encode(`--${boundary}`);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let at = indexOf(bytes, marker, 0);
  if (at < 0) throw malformed();
  for (;;) {
    at += marker.length;
    if (bytes[at] === DASH && bytes[at + 1] === DASH) return form;
    if (bytes[at] !== CR || bytes[at + 1] !== LF) throw malformed();
    const headersEnd = indexOf(bytes, BLANK_LINE, at);
    const next = indexOf(bytes, marker, headersEnd + BLANK_LINE.length);
    if (headersEnd < 0 || next < 0 || bytes[next - 2] !== CR || bytes[next - 1] !== LF) throw malformed();
    const headers = decoder.decode(bytes.subarray(at + 2, headersEnd));
    const content = bytes.slice(headersEnd + BLANK_LINE.length, next - 2);
    const disposition = headerOf(headers, 'content-disposition') ?? '';
    const name = parameterOf(disposition, 'name');
    const filename = parameterOf(disposition, 'filename');
    if (!/^\s*form-data\s*(;|$)/i.test(disposition) || name === undefined) throw malformed();
    if (filename === undefined) form.append(name, decoder.decode(content));
    else form.append(name, new File([content], filename, { type: headerOf(headers, 'content-type') ?? 'text/plain' }));
    at = next;
  }
}

/** The boundary that a `content-type` names. */
export function boundaryOf(contentType: string): string | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^;\s]+))/i.exec(contentType) ?? [];
  return quoted ?? plain;
}

const CR = 13;
const LF = 10;
const DASH = 45;
const BREAK = new Uint8Array([CR, LF]);
const BLANK_LINE = new Uint8Array([CR, LF, CR, LF]);

function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  const [first] = wanted;
  for (let at = bytes.indexOf(first ?? 0, from); at >= 0; at = bytes.indexOf(first ?? 0, at + 1)) {
    let same = 1;
    while (same < wanted.length && bytes[at + same] === wanted[same]) same++;
    if (same === wanted.length) return at;
  }
  return -1;
}

function headerOf(headers: string, wanted: string): string | undefined {
  for (const line of headers.split(CRLF)) {
    const colon = line.indexOf(':');
    if (colon > 0 && line.slice(0, colon).trim().toLowerCase() === wanted) return line.slice(colon + 1).trim();
  }
  return undefined;
}

function parameterOf(disposition: string, wanted: 'name' | 'filename'): string | undefined {
  const found = new RegExp(`;\\s*${wanted}="([^"]*)"`, 'i').exec(disposition)?.[1];
  return found?.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replace(/%22/g, '"');
}

function escaped(name: string): string {
  return name.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22');
}

function malformed(): TypeError {
  return new TypeError('The body is not multipart/form-data');
}
