import type { ByteStream, StreamClasses } from '../../lazy/streams.ts';
import { concatBytes, copyOfBytes } from '../encoding/bytes.ts';
import { TextDecoder } from '../encoding/text-decoder.ts';
import { TextEncoder } from '../encoding/text-encoder.ts';
import type { BlobClasses } from './blob.ts';
import type { FormDataClass, FormValue } from './form-data.ts';
import type { Headers } from './headers.ts';
import { boundaryOf, decodeMultipart, encodeMultipart } from './multipart.ts';

/** The classes that bodies are made of and turned into. The first call of `streams` loads the streams. */
export interface BodyClasses {
  blobs: BlobClasses;
  FormData: FormDataClass;
  URLSearchParams: new (init?: unknown) => Iterable<[string, string]> & { toString(): string };
  streams(): StreamClasses;
  /** Undefined until the streams are loaded. */
  loadedStreams(): StreamClasses | undefined;
}

/** A body as it was given: whole, or as a stream. */
type Source = { text: string } | { bytes: Uint8Array<ArrayBuffer> } | { stream: ByteStream };

/** A whole body, as it is sent or received. */
export type WholeBody = { text: string } | { bytes: Uint8Array<ArrayBuffer> };

/**
 * A body's content (Fetch Standard 2.2.4). It can be read once, and cloned before that. It becomes a stream only on
 * request.
 */
export class BodyContent {
  readonly #classes: BodyClasses;
  #source: Source;
  #isUsed = false;

  constructor(classes: BodyClasses, source: Source) {
    this.#classes = classes;
    this.#source = source;
  }

  get isUsed(): boolean {
    if (this.#isUsed || !('stream' in this.#source)) return this.#isUsed;
    return this.#classes.streams().isDisturbed(this.#source.stream);
  }

  get isUnusable(): boolean {
    return this.isUsed || ('stream' in this.#source && this.#source.stream.locked);
  }

  get stream(): ByteStream {
    if ('stream' in this.#source) return this.#source.stream;
    // A body that was read before gives an empty stream.
    const source: WholeBody = this.#isUsed ? { text: '' } : this.#source;
    const stream = this.#classes.streams().streamOf(() => bytesOf(source).slice());
    this.#source = { stream };
    return stream;
  }

  /** Reads the whole content, once. */
  async whole(): Promise<WholeBody> {
    if (this.isUnusable) throw new TypeError('Body is unusable: Body has already been read');
    const source = this.#source;
    this.#isUsed = true;
    return 'stream' in source ? { bytes: concatBytes(await this.#classes.streams().readAll(source.stream)) } : source;
  }

  /** A second body of the same content. */
  clone(): BodyContent {
    if (this.isUnusable) throw new TypeError('Body is unusable: it has been read or is locked');
    if (!('stream' in this.#source)) return new BodyContent(this.#classes, this.#source);
    const [mine, other] = this.#source.stream.tee();
    this.#source = { stream: mine };
    return new BodyContent(this.#classes, { stream: other });
  }

  /** Moves the content to another owner. This object counts as read from now on. */
  move(): BodyContent {
    if (this.isUnusable) throw new TypeError('Body is unusable: it has been read or is locked');
    this.#isUsed = true;
    return new BodyContent(this.#classes, this.#source);
  }
}

/** Makes a body and its type from a constructor's argument (Fetch Standard 5.2, extract a body). */
export function extractBody(classes: BodyClasses, given: unknown): { content: BodyContent; type: string | null } {
  const of = (source: Source, type: string | null) => ({ content: new BodyContent(classes, source), type });
  const { blobs, FormData, URLSearchParams } = classes;
  const inBlob = blobs.bytesIn(given);
  if (inBlob !== undefined) {
    const { type } = given as InstanceType<BlobClasses['Blob']>;
    return of({ bytes: inBlob }, type === '' ? null : type);
  }
  const bytes = copyOfBytes(given);
  if (bytes !== undefined) return of({ bytes }, null);
  if (given instanceof FormData) {
    const { boundary, bytes: encoded } = encodeMultipart(given as Iterable<[string, FormValue]>, blobs.bytesIn);
    return of({ bytes: encoded }, `multipart/form-data; boundary=${boundary}`);
  }
  if (given instanceof URLSearchParams) {
    return of({ text: given.toString() }, 'application/x-www-form-urlencoded;charset=UTF-8');
  }
  if (classes.loadedStreams()?.isStream(given) === true) {
    if (given.locked || classes.streams().isDisturbed(given)) throw new TypeError('The stream is locked or was read');
    return of({ stream: given }, null);
  }
  return of({ text: String(given).toWellFormed() }, 'text/plain;charset=UTF-8');
}

/** The base class of Request and Response (Fetch Standard 5.3), and the functions that only these two may use. */
export function createBodyClass(classes: BodyClasses) {
  let fill: (body: Body, content: BodyContent | null, headers: Headers) => void;
  let contentOf: (body: Body) => BodyContent | null;

  class Body {
    #content: BodyContent | null = null;
    #headers: Headers | null = null;

    static {
      fill = (body, content, headers) => {
        body.#content = content;
        body.#headers = headers;
      };
      contentOf = (body) => body.#content;
    }

    get body(): ByteStream | null {
      return this.#content?.stream ?? null;
    }

    get bodyUsed(): boolean {
      return this.#content?.isUsed ?? false;
    }

    async arrayBuffer(): Promise<ArrayBuffer> {
      return (await this.bytes()).buffer;
    }

    async blob(): Promise<unknown> {
      return new classes.blobs.Blob([await this.bytes()], { type: this.#type });
    }

    async bytes(): Promise<Uint8Array<ArrayBuffer>> {
      const whole = await this.#whole();
      return 'bytes' in whole ? whole.bytes.slice() : bytesOf(whole);
    }

    async formData(): Promise<InstanceType<FormDataClass>> {
      const { blobs, FormData, URLSearchParams } = classes;
      if (/^multipart\/form-data\s*(;|$)/i.test(this.#type)) {
        const boundary = boundaryOf(this.#type);
        const bytes = await this.bytes();
        if (boundary === undefined) throw new TypeError('The type of the body names no boundary');
        return decodeMultipart(bytes, boundary, { FormData, File: blobs.File });
      }
      if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(this.#type)) throw new TypeError('The body is no form');
      const form = new FormData();
      for (const [name, value] of new URLSearchParams(await this.text())) form.append(name, value);
      return form;
    }

    async json(): Promise<unknown> {
      return JSON.parse(await this.text());
    }

    async text(): Promise<string> {
      const whole = await this.#whole();
      if ('bytes' in whole) return new TextDecoder().decode(whole.bytes);
      return whole.text.charCodeAt(0) === BYTE_ORDER_MARK ? whole.text.slice(1) : whole.text;
    }

    get #type(): string {
      return this.#headers?.get('content-type') ?? '';
    }

    async #whole(): Promise<WholeBody> {
      return (await this.#content?.whole()) ?? { text: '' };
    }
  }

  return {
    Body,
    fill: (...given: Parameters<typeof fill>) => fill(...given),
    contentOf: (body: Body) => contentOf(body),
  };
}

export type BodyClassKit = ReturnType<typeof createBodyClass>;

const BYTE_ORDER_MARK = 0xfeff;

function bytesOf(body: WholeBody): Uint8Array<ArrayBuffer> {
  return 'bytes' in body ? body.bytes : (new TextEncoder().encode(body.text) as Uint8Array<ArrayBuffer>);
}
