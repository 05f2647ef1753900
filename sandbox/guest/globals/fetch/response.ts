import { conformToWebIdl } from '../web-idl.ts';
import { type BodyClasses, type BodyClassKit, type BodyContent, extractBody } from './body.ts';
import { Headers, makeHeadersImmutable } from './headers.ts';

/** The head of a response. Only `fetch` may set all of its fields. */
export interface ResponseHead {
  type: 'basic' | 'default' | 'error';
  url: string;
  redirected: boolean;
  status: number;
  statusText: string;
  headers: Headers;
}

interface ResponseClasses extends BodyClasses {
  URL: new (url: unknown) => { href: string };
}

const WITHOUT_BODY = [101, 204, 205, 304];
const REDIRECTS = [301, 302, 303, 307, 308];
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Passes the parts of an existing answer to the constructor. Plugins cannot make such an object. */
class FinishedHead {
  readonly head: ResponseHead;
  readonly content: BodyContent | null;

  constructor(head: ResponseHead, content: BodyContent | null) {
    this.head = head;
    this.content = content;
  }
}

/** The class Response (Fetch Standard 5.5), and the function with which `fetch` makes one. */
export function createResponseClass(classes: ResponseClasses, { Body, fill, contentOf }: BodyClassKit) {
  class Response extends Body {
    readonly #head: ResponseHead;

    constructor(body: unknown = null, init: unknown = {}) {
      super();
      if (body instanceof FinishedHead) {
        this.#head = body.head;
        fill(this, body.content, body.head.headers);
        return;
      }
      this.#head = headOf(init);
      const { status, headers } = this.#head;
      if (body !== null && WITHOUT_BODY.includes(status))
        throw new TypeError(`A response of status ${status} has no body`);
      const extracted = body === null ? null : extractBody(classes, body);
      if (extracted?.type !== null && extracted?.type !== undefined && !headers.has('content-type')) {
        headers.append('content-type', extracted.type);
      }
      fill(this, extracted?.content ?? null, headers);
    }

    static error(): Response {
      const head: ResponseHead = {
        ...headOf({}),
        type: 'error',
        status: 0,
        headers: makeHeadersImmutable(new Headers()),
      };
      return new Response(new FinishedHead(head, null));
    }

    static redirect(url: unknown, status: unknown = 302): Response {
      const { href } = urlOf(url);
      const code = Number(status);
      if (!REDIRECTS.includes(code)) throw new RangeError(`${String(status)} is no status of a redirect`);
      const headers = makeHeadersImmutable(new Headers({ location: href }));
      return new Response(new FinishedHead({ ...headOf({}), status: code, headers }, null));
    }

    static json(data: unknown, init: unknown = {}): Response {
      const text: unknown = JSON.stringify(data);
      if (typeof text !== 'string') throw new TypeError('The value has no JSON text');
      const head = headOf(init);
      if (WITHOUT_BODY.includes(head.status)) throw new TypeError(`A response of status ${head.status} has no body`);
      if (!head.headers.has('content-type')) head.headers.set('content-type', 'application/json');
      return new Response(new FinishedHead(head, extractBody(classes, text).content));
    }

    get type(): ResponseHead['type'] {
      return this.#head.type;
    }

    get url(): string {
      return this.#head.url;
    }

    get redirected(): boolean {
      return this.#head.redirected;
    }

    get status(): number {
      return this.#head.status;
    }

    get ok(): boolean {
      return this.#head.status >= 200 && this.#head.status <= 299;
    }

    get statusText(): string {
      return this.#head.statusText;
    }

    get headers(): Headers {
      return this.#head.headers;
    }

    clone(): Response {
      const content = contentOf(this)?.clone() ?? null;
      return new Response(new FinishedHead({ ...this.#head, headers: new Headers(this.#head.headers) }, content));
    }
  }

  conformToWebIdl(Response);
  function urlOf(given: unknown): { href: string } {
    try {
      return new classes.URL(given);
    } catch (cause) {
      throw new TypeError(`Failed to parse URL from ${String(given)}`, { cause });
    }
  }

  const answer = (head: ResponseHead, content: BodyContent | null): Response =>
    new Response(new FinishedHead(head, content));
  return { Response, answer };
}

export type ResponseClassKit = ReturnType<typeof createResponseClass>;

function headOf(init: unknown): ResponseHead {
  if (init !== null && init !== undefined && typeof init !== 'object' && typeof init !== 'function') {
    throw new TypeError('The options are not an object');
  }
  const { status = 200, statusText = '', headers } = (init ?? {}) as Readonly<Record<string, unknown>>;
  const code = Math.trunc(Number(status));
  if (!(code >= 200 && code <= 599))
    throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
  const text = String(statusText);
  if (!REASON.test(text)) throw new TypeError('Invalid statusText');
  return {
    type: 'default',
    url: '',
    redirected: false,
    status: code,
    statusText: text,
    headers: new Headers(headers ?? []),
  };
}
