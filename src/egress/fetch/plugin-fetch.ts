/** A request that a plugin makes with `fetch`. */
export interface FetchRequest {
  url: URL;
  /** In upper case. */
  method: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer | undefined;
  redirect: 'follow' | 'error' | 'manual';
}

export interface FetchAnswer {
  /** The URL that answered, without a fragment. */
  url: string;
  /** True when the answer came after a redirect. */
  redirected: boolean;
  status: number;
  statusText: string;
  /** Lower-case names, one pair for each header line. */
  headers: [name: string, value: string][];
  /** Inflated. */
  body: Buffer;
}

/** What the operator allows for one URL. */
export interface FetchRule {
  /** Longest body, sent or received after inflating, in bytes. */
  maxBytes: number;
  /** For the whole exchange, in milliseconds. */
  timeoutMs: number;
  /** Whether its host may have a private address. */
  isPrivate: boolean;
}

/** A plugin's grants. They are asked anew for each hop. */
export interface FetchGrants {
  /** The rule for a URL and method, or the text that refuses it and names the line to add. */
  rule(url: URL, method: string): FetchRule | string;
  /** Why a host's private address is refused, with the line to add. */
  privateRefusal(url: URL): string;
}

export type FetchFailureKind =
  /** Not granted, or an address that is never granted. */
  'refused' | 'invalid' | 'timeout' | 'transport' | 'too-large' | 'redirect' | 'aborted';

/** There is no answer. The message is for the plugin's author; it names hosts, never the service's own addresses. */
export class FetchFailure extends Error {
  readonly kind: FetchFailureKind;
  /** True when nothing can have reached the other side. */
  readonly unsent: boolean;

  constructor(
    kind: FetchFailureKind,
    message: string,
    { unsent = false, cause }: { unsent?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'FetchFailure';
    this.kind = kind;
    this.unsent = unsent;
  }
}
