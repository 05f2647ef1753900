/**
 * fetch and what belongs to it, as a plugin finds them. Requests go only to the hosts of the plugin's
 * `permissions.hosts`; an answer is there once the whole of it is.
 */

type HeadersInit = Headers | Iterable<readonly [string, string]> | Record<string, string>;
type BodyInit = string | ArrayBuffer | ArrayBufferView | Blob | FormData | URLSearchParams | ReadableStream<Uint8Array>;
type FormDataEntryValue = string | File;

declare class Headers implements Iterable<[string, string]> {
  constructor(init?: HeadersInit);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(callback: (value: string, name: string, headers: Headers) => void, self?: unknown): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

/** A body, which is read once. */
interface Body {
  /** As a stream. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** Whether it has been read. */
  readonly bodyUsed: boolean;
  /** All of it. */
  arrayBuffer(): Promise<ArrayBuffer>;
  /** All of it, with its type. */
  blob(): Promise<Blob>;
  /** All of it. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  /** What a form has sent. */
  formData(): Promise<FormData>;
  /** The value; rejects where it is no JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the other side decides what it answers
  json(): Promise<any>;
  /** As UTF-8. */
  text(): Promise<string>;
}

/** How something is fetched. */
interface RequestInit {
  /** `GET` unless given. */
  method?: string;
  /** Those of the connection itself (`host`, `content-length`, `connection` and the like) are not sent. */
  headers?: HeadersInit;
  /** At most 750,000 characters of text, or bytes. */
  body?: BodyInit | null;
  /** `follow` at most five unless given; `error` rejects, `manual` answers with the redirect itself. */
  redirect?: 'follow' | 'error' | 'manual';
  /** Gives it up. */
  signal?: AbortSignal | null;
  /** Needed beside a stream. */
  duplex?: 'half';
  /** Changes nothing: no answer is kept. */
  cache?: 'default' | 'no-store' | 'reload' | 'no-cache' | 'force-cache';
  /** Changes nothing: no cookies are kept. */
  credentials?: 'same-origin' | 'omit' | 'include';
  /** Changes nothing: a plugin has no origin. */
  mode?: 'cors' | 'same-origin' | 'no-cors';
  /** Changes nothing: with the call its fetches end. */
  keepalive?: boolean;
}

interface Request extends Body {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly redirect: 'follow' | 'error' | 'manual';
  readonly signal: AbortSignal;
  clone(): Request;
}
declare var Request: { prototype: Request; new (input: string | URL | Request, init?: RequestInit): Request };

interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInit;
}

/** An answer, with the members of a body. */
interface Response extends Body {
  /** `basic` where it was fetched. */
  readonly type: 'basic' | 'default' | 'error';
  /** The URL that answered, after redirects. */
  readonly url: string;
  /** Whether there were redirects. */
  readonly redirected: boolean;
  /** Any status is an answer: look at `ok`. */
  readonly status: number;
  /** Whether the status is from 200 to 299. */
  readonly ok: boolean;
  /** What the other side wrote beside the status. */
  readonly statusText: string;
  /** Those that came. */
  readonly headers: Headers;
  /** A second one whose body can be read for itself. */
  clone(): Response;
}
declare var Response: {
  prototype: Response;
  new (body?: BodyInit | null, init?: ResponseInit): Response;
  error(): Response;
  json(data: unknown, init?: ResponseInit): Response;
  redirect(url: string | URL, status?: 301 | 302 | 303 | 307 | 308): Response;
};

/** Rejects with a TypeError whose message says what is missing, when a host is not granted or does not answer. */
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

declare class Blob {
  constructor(
    parts?: Iterable<string | ArrayBuffer | ArrayBufferView | Blob>,
    options?: { type?: string; endings?: 'transparent' | 'native' },
  );
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  slice(start?: number, end?: number, type?: string): Blob;
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
  text(): Promise<string>;
}

declare class File extends Blob {
  constructor(
    parts: Iterable<string | ArrayBuffer | ArrayBufferView | Blob>,
    name: string,
    options?: { type?: string; endings?: 'transparent' | 'native'; lastModified?: number },
  );
  readonly name: string;
  readonly lastModified: number;
}

declare class FormData implements Iterable<[string, FormDataEntryValue]> {
  append(name: string, value: string | Blob, filename?: string): void;
  delete(name: string): void;
  get(name: string): FormDataEntryValue | null;
  getAll(name: string): FormDataEntryValue[];
  has(name: string): boolean;
  set(name: string, value: string | Blob, filename?: string): void;
  forEach(callback: (value: FormDataEntryValue, name: string, form: FormData) => void, self?: unknown): void;
  entries(): IterableIterator<[string, FormDataEntryValue]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<FormDataEntryValue>;
  [Symbol.iterator](): IterableIterator<[string, FormDataEntryValue]>;
}

declare class TextDecoderStream {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  readonly readable: ReadableStream<string>;
  readonly writable: WritableStream<Uint8Array>;
}

declare class TextEncoderStream {
  readonly encoding: string;
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<string>;
}

/** What a pattern is made of, and what its parts are matched with. */
interface URLPatternInit {
  baseURL?: string;
  protocol?: string;
  username?: string;
  password?: string;
  hostname?: string;
  port?: string;
  pathname?: string;
  search?: string;
  hash?: string;
}
interface URLPatternPart {
  input: string;
  groups: Record<string, string | undefined>;
}
interface URLPatternResult extends Record<Exclude<keyof URLPatternInit, 'baseURL'>, URLPatternPart> {
  inputs: (string | URLPatternInit)[];
}
declare class URLPattern {
  constructor(pattern?: string | URLPatternInit, baseUrl?: string, options?: { ignoreCase?: boolean });
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
  readonly hasRegExpGroups: boolean;
  test(url?: string | URL | URLPatternInit, baseUrl?: string): boolean;
  exec(url?: string | URL | URLPatternInit, baseUrl?: string): URLPatternResult | null;
}
