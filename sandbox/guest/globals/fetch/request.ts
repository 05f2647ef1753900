import { conformToWebIdl, tooFewArguments } from '../web-idl.ts';
import { type BodyClasses, type BodyClassKit, type BodyContent, extractBody } from './body.ts';
import { Headers } from './headers.ts';

/** The signal that cancels a request. */
export interface RequestSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: string, listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** What requests need of the other classes. */
export interface RequestClasses extends BodyClasses {
  URL: new (url: unknown) => { href: string; username: string; password: string };
  AbortSignal: { any(signals: Iterable<RequestSignal>): RequestSignal; readonly prototype: RequestSignal };
}

const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;
const NORMALIZED = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'];
const FORBIDDEN = ['CONNECT', 'TRACE', 'TRACK'];

/** The settings of a request, with what each may be (Fetch Standard 5.4). */
const SETTINGS = {
  cache: ['default', 'no-store', 'reload', 'no-cache', 'force-cache', 'only-if-cached'],
  credentials: ['same-origin', 'omit', 'include'],
  mode: ['cors', 'same-origin', 'no-cors'],
  redirect: ['follow', 'error', 'manual'],
  referrerPolicy: [
    '',
    'no-referrer',
    'no-referrer-when-downgrade',
    'same-origin',
    'origin',
    'strict-origin',
    'origin-when-cross-origin',
    'strict-origin-when-cross-origin',
    'unsafe-url',
  ],
} as const;

type Settings = { [S in keyof typeof SETTINGS]: (typeof SETTINGS)[S][number] };

interface Fields {
  readonly url: string;
  readonly method: string;
  readonly settings: Settings;
  readonly referrer: string;
  readonly keepalive: boolean;
  readonly integrity: string;
}

const BLANK: Fields = {
  url: '',
  method: 'GET',
  settings: { cache: 'default', credentials: 'same-origin', mode: 'cors', redirect: 'follow', referrerPolicy: '' },
  referrer: 'about:client',
  keepalive: false,
  integrity: '',
};

/** Passes a clone's body to the constructor. Plugins cannot make such an object. */
class ClonedBody {
  readonly content: BodyContent;

  constructor(content: BodyContent) {
    this.content = content;
  }
}

/** The class Request (Fetch Standard 5.4), and the signals of a request, which only `fetch` sees. */
export function createRequestClass(classes: RequestClasses, { Body, fill, contentOf }: BodyClassKit) {
  let followed: (request: Request) => readonly RequestSignal[];

  class Request extends Body {
    readonly #fields: Fields;
    readonly #headers: Headers;
    readonly #followed: readonly RequestSignal[];
    #signal: RequestSignal | undefined;

    static {
      // A request's own signal is made on its first use, because a plain request needs none.
      followed = (request) => (request.#signal === undefined ? request.#followed : [request.#signal]);
    }

    constructor(input: unknown, init: unknown = {}) {
      super();
      const given = optionsOf(init);
      const original = input instanceof Request ? input : undefined;
      // Reads each option once: a getter cannot give another value after the check.
      const { method, headers, body, signal, keepalive, integrity, duplex, referrer } = given;
      if (arguments.length === 0) throw tooFewArguments('Request', 1);
      if (given['window'] !== undefined && given['window'] !== null) throw new TypeError('There is no window here');
      if (duplex !== undefined && textOf(duplex) !== 'half')
        throw new TypeError(`'${textOf(duplex)}' is no way of sending`);
      const base = original === undefined ? BLANK : original.#fields;
      this.#fields = {
        url: original === undefined ? parsedUrl(input) : base.url,
        method: method === undefined ? base.method : methodOf(method),
        settings: settingsOf(given, base.settings),
        referrer: referrer === undefined ? base.referrer : referrerOf(referrer),
        keepalive: keepalive === undefined ? base.keepalive : Boolean(keepalive),
        integrity: integrity === undefined ? base.integrity : textOf(integrity),
      };
      this.#headers = new Headers(headers === undefined ? (original === undefined ? [] : original.#headers) : headers);
      if (signal === undefined) this.#followed = original === undefined ? [] : followed(original);
      else this.#followed = signalsOf(signal);
      fill(this, this.#contentOf(body, original, duplex), this.#headers);
    }

    get method(): string {
      return this.#fields.method;
    }

    get url(): string {
      return this.#fields.url;
    }

    get headers(): Headers {
      return this.#headers;
    }

    get destination(): string {
      return '';
    }

    get referrer(): string {
      return this.#fields.referrer;
    }

    get referrerPolicy(): Settings['referrerPolicy'] {
      return this.#fields.settings.referrerPolicy;
    }

    get mode(): Settings['mode'] {
      return this.#fields.settings.mode;
    }

    get credentials(): Settings['credentials'] {
      return this.#fields.settings.credentials;
    }

    get cache(): Settings['cache'] {
      return this.#fields.settings.cache;
    }

    get redirect(): Settings['redirect'] {
      return this.#fields.settings.redirect;
    }

    get integrity(): string {
      return this.#fields.integrity;
    }

    get keepalive(): boolean {
      return this.#fields.keepalive;
    }

    get duplex(): string {
      return 'half';
    }

    get signal(): RequestSignal {
      this.#signal ??= classes.AbortSignal.any(this.#followed);
      return this.#signal;
    }

    clone(): Request {
      const content = contentOf(this)?.clone();
      const init = { body: content === undefined ? null : new ClonedBody(content) };
      return new Request(this, init);
    }

    #contentOf(body: unknown, original: Request | undefined, duplex: unknown): BodyContent | null {
      if (body instanceof ClonedBody) return body.content;
      const inherited = original === undefined ? null : contentOf(original);
      if (body === null || (body === undefined && inherited === null)) return null;
      if (this.#fields.method === 'GET' || this.#fields.method === 'HEAD') {
        throw new TypeError('Request with GET/HEAD method cannot have body.');
      }
      if (body === undefined) return inherited?.move() ?? null;
      const { content, type } = extractBody(classes, body);
      if (classes.loadedStreams()?.isStream(body) === true && duplex !== 'half') {
        throw new TypeError("A request with a stream as its body needs duplex: 'half'");
      }
      if (type !== null && !this.#headers.has('content-type')) this.#headers.append('content-type', type);
      return content;
    }
  }

  /** There are no origins here, so a referrer is either the client or empty. */
  function referrerOf(given: unknown): string {
    const text = textOf(given);
    if (text !== '') parsedUrl(text);
    return text === '' ? '' : 'about:client';
  }

  function parsedUrl(input: unknown): string {
    let url: { href: string; username: string; password: string };
    try {
      url = new classes.URL(input);
    } catch (cause) {
      throw new TypeError(`Failed to parse URL from ${String(input)}`, { cause });
    }
    if (url.username !== '' || url.password !== '') {
      throw new TypeError('Request cannot be constructed from a URL that includes credentials');
    }
    return url.href;
  }

  function signalsOf(signal: unknown): readonly RequestSignal[] {
    if (signal === null) return [];
    if (!Object.prototype.isPrototypeOf.call(classes.AbortSignal.prototype, signal as object)) {
      throw new TypeError('The signal of a request must be an AbortSignal');
    }
    return [signal as RequestSignal];
  }

  conformToWebIdl(Request);
  return { Request, followed: (request: Request) => followed(request) };
}

export type RequestClassKit = ReturnType<typeof createRequestClass>;

type Options = Readonly<Record<string, unknown>>;

function optionsOf(init: unknown): Options {
  if (init === undefined || init === null) return {};
  if (typeof init !== 'object' && typeof init !== 'function') throw new TypeError('The options are not an object');
  return init as Options;
}

function methodOf(given: unknown): string {
  const method = String(given);
  const upper = method.toUpperCase();
  if (!TOKEN.test(method) || FORBIDDEN.includes(upper)) throw new TypeError(`'${method}' is not a valid HTTP method.`);
  return NORMALIZED.includes(upper) ? upper : method;
}

function settingsOf(given: Options, base: Settings): Settings {
  const setting = <S extends keyof Settings>(name: S): Settings[S] => {
    const value = given[name];
    if (value === undefined) return base[name];
    const allowed: readonly string[] = SETTINGS[name];
    const text = textOf(value);
    if (!allowed.includes(text)) throw new TypeError(`'${text}' is not a valid ${name} of a request`);
    return text as Settings[S];
  };
  const settings = {
    cache: setting('cache'),
    credentials: setting('credentials'),
    mode: setting('mode'),
    redirect: setting('redirect'),
    referrerPolicy: setting('referrerPolicy'),
  };
  if (settings.cache === 'only-if-cached' && settings.mode !== 'same-origin') {
    throw new TypeError("The cache 'only-if-cached' goes with the mode 'same-origin' only");
  }
  return settings;
}

function textOf(value: unknown): string {
  return String(value);
}
