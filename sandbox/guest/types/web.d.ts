/**
 * `fetch` in plugins, and its classes. Requests can go only to the hosts in the plugin's `permissions.hosts`. `fetch`
 * resolves when the whole answer has arrived.
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

/** The body of a request or an answer. It can be read only once. */
interface Body {
  /** The body as a stream; null without a body. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  /** Whether the body has been read. */
  readonly bodyUsed: boolean;
  /** Reads the whole body. */
  arrayBuffer(): Promise<ArrayBuffer>;
  /** Reads the whole body as a Blob with the content type. */
  blob(): Promise<Blob>;
  /** Reads the whole body. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  /** Reads the body as form data. */
  formData(): Promise<FormData>;
  /** Reads the body as JSON. Rejects if the body is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the other side decides what it answers
  json(): Promise<any>;
  /** Reads the body as UTF-8 text. */
  text(): Promise<string>;
}

/** Options of `fetch`. */
interface RequestInit {
  /** The HTTP method. Default: `GET`. */
  method?: string;
  /**
   * Headers to send. Headers of the connection itself (`host`, `content-length`, `connection` and the like) are
   * dropped.
   */
  headers?: HeadersInit;
  /** The body to send: text of at most 750,000 characters, or at most 750,000 bytes. */
  body?: BodyInit | null;
  /**
   * `follow` (default) follows at most five redirects. `error` rejects at a redirect. `manual` returns the redirect
   * itself.
   */
  redirect?: 'follow' | 'error' | 'manual';
  /** Aborts the fetch when this signal is aborted. */
  signal?: AbortSignal | null;
  /** Required if the body is a stream. */
  duplex?: 'half';
  /** Has no effect: there is no cache. */
  cache?: 'default' | 'no-store' | 'reload' | 'no-cache' | 'force-cache';
  /** Has no effect: cookies are not stored. */
  credentials?: 'same-origin' | 'omit' | 'include';
  /** Has no effect: a plugin has no origin. */
  mode?: 'cors' | 'same-origin' | 'no-cors';
  /** Has no effect: fetches end with the plugin call. */
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

/** An HTTP answer. It also has the members of `Body`. */
interface Response extends Body {
  /** `basic` for an answer from `fetch`. */
  readonly type: 'basic' | 'default' | 'error';
  /** The URL that answered, after redirects. */
  readonly url: string;
  /** Whether there were redirects. */
  readonly redirected: boolean;
  /** The HTTP status. `fetch` resolves with any status, so check `ok`. */
  readonly status: number;
  /** Whether the status is from 200 to 299. */
  readonly ok: boolean;
  /** The text after the status in the answer. */
  readonly statusText: string;
  /** The headers of the answer. */
  readonly headers: Headers;
  /** Makes a copy. The body of each can be read separately. */
  clone(): Response;
}
declare var Response: {
  prototype: Response;
  new (body?: BodyInit | null, init?: ResponseInit): Response;
  error(): Response;
  json(data: unknown, init?: ResponseInit): Response;
  redirect(url: string | URL, status?: 301 | 302 | 303 | 307 | 308): Response;
};

/**
 * Sends an HTTP request. Rejects with a TypeError if the host is not granted or does not answer. For a host that is not
 * granted, the message says which permission is missing.
 */
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

/** The parts of a pattern. Also the parts of a URL that is matched with a pattern. */
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
