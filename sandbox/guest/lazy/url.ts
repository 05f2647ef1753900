import { parseQuery, QueryList, URLSearchParams } from '../globals/url-search-params.ts';
import { conformToWebIdl, tooFewArguments } from '../globals/web-idl.ts';
import type { UrlParts } from '../host-function.ts';
import type { HostLink } from '../host-link.ts';
import type { RuntimeServices } from '../lazy-module-loader.ts';

type Part = Exclude<keyof UrlParts, 'href' | 'origin'>;

/** The URL class (URL Standard 6.1). The host parses URLs with the engine's own parser. */
export function createUrlClass(link: Pick<HostLink, 'parseUrl' | 'changeUrl'>) {
  const parse = (url: unknown, base: unknown): UrlParts | null =>
    link.parseUrl(text(url), base === undefined ? undefined : text(base));

  class URL {
    #parts: UrlParts;
    #query: QueryList | null = null;
    #params: URLSearchParams | null = null;

    constructor(url: unknown, base?: unknown) {
      if (arguments.length === 0) throw tooFewArguments('URL', 1);
      const parts = parse(url, base);
      if (parts === null) throw invalid(url);
      this.#parts = parts;
    }

    static canParse(...given: unknown[]): boolean {
      if (given.length === 0) throw tooFewArguments('URL.canParse', 1);
      return parse(given[0], given[1]) !== null;
    }

    static parse(...given: unknown[]): URL | null {
      if (given.length === 0) throw tooFewArguments('URL.parse', 1);
      const [url, base] = given.map((one) => (one === undefined ? undefined : text(one)));
      return parse(url, base) === null ? null : new URL(url, base);
    }

    get href(): string {
      return this.#parts.href;
    }

    set href(value: unknown) {
      const parts = parse(value, undefined);
      if (parts === null) throw invalid(value);
      this.#parts = parts;
      this.#reload();
    }

    get origin(): string {
      return this.#parts.origin;
    }

    get protocol(): string {
      return this.#parts.protocol;
    }

    set protocol(value: unknown) {
      this.#set('protocol', value);
    }

    get username(): string {
      return this.#parts.username;
    }

    set username(value: unknown) {
      this.#set('username', value);
    }

    get password(): string {
      return this.#parts.password;
    }

    set password(value: unknown) {
      this.#set('password', value);
    }

    get host(): string {
      return this.#parts.host;
    }

    set host(value: unknown) {
      this.#set('host', value);
    }

    get hostname(): string {
      return this.#parts.hostname;
    }

    set hostname(value: unknown) {
      this.#set('hostname', value);
    }

    get port(): string {
      return this.#parts.port;
    }

    set port(value: unknown) {
      this.#set('port', value);
    }

    get pathname(): string {
      return this.#parts.pathname;
    }

    set pathname(value: unknown) {
      this.#set('pathname', value);
    }

    get search(): string {
      return this.#parts.search;
    }

    set search(value: unknown) {
      this.#set('search', value);
      this.#reload();
    }

    get hash(): string {
      return this.#parts.hash;
    }

    set hash(value: unknown) {
      this.#set('hash', value);
    }

    get searchParams(): URLSearchParams {
      if (this.#params === null) {
        this.#query = new QueryList(parseQuery(this.#parts.search), (query) => this.#set('search', query));
        this.#params = new URLSearchParams(this.#query);
      }
      return this.#params;
    }

    toString(): string {
      return this.#parts.href;
    }

    toJSON(): string {
      return this.#parts.href;
    }

    /** Sets a part of the URL. If the standard refuses the value, the URL stays as it is. */
    #set(part: Part, value: unknown): void {
      this.#parts = link.changeUrl(this.#parts.href, part, text(value)) ?? this.#parts;
    }

    #reload(): void {
      this.#query?.reload(this.#parts.search);
    }
  }

  conformToWebIdl(URL);
  for (const name of ['canParse', 'parse'] as const) {
    Object.defineProperty(URL[name], 'length', { value: 1, configurable: true });
  }
  return URL;
}

function text(value: unknown): string {
  return `${value as string}`.toWellFormed();
}

function invalid(url: unknown): TypeError {
  return Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input: String(url) });
}

/** The classes of the URL Standard. */
export function create({ urls }: RuntimeServices): Record<string, unknown> {
  return { URL: createUrlClass(urls), URLSearchParams };
}
