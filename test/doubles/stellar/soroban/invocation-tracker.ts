import { xdr } from '@stellar/stellar-sdk';

/** An authorized function, with the authorized calls below it. */
interface Authorized {
  readonly function: xdr.SorobanAuthorizedFunction;
  readonly subInvocations: Authorized[];
  /** Whether a call has used this authorization. Each is valid for one call. */
  isExhausted: boolean;
}

type Match = 'unmatched' | 'root' | { child: number };

/** Follows one tree of authorized calls along the stack of actual calls: soroban-env-host's `InvocationTracker`. */
export class InvocationTracker {
  readonly #root: Authorized;
  readonly #matches: Match[];
  #rootDepth: number | undefined;
  #isOver = false;

  constructor(root: Authorized, matches: Match[] = []) {
    this.#root = root;
    this.#matches = matches;
    if (matches.includes('root')) this.#rootDepth = matches.indexOf('root');
  }

  static of(root: xdr.SorobanAuthorizedInvocation): InvocationTracker {
    return new InvocationTracker(authorizedOf(root));
  }

  /** Makes a tree whose root is the current call. */
  static recording(root: xdr.SorobanAuthorizedFunction, depth: number): InvocationTracker {
    const matches: Match[] = [...Array.from({ length: depth - 1 }, () => 'unmatched' as const), 'root'];
    return new InvocationTracker({ function: root, subInvocations: [], isExhausted: true }, matches);
  }

  push(): void {
    this.#matches.push('unmatched');
  }

  pop(): void {
    this.#matches.pop();
    if (this.#rootDepth !== undefined && this.#rootDepth >= this.#matches.length) this.#isOver = true;
  }

  /** Whether a call that is still running has matched the root. */
  get isActive(): boolean {
    return this.#root.isExhausted && !this.#isOver;
  }

  get isFrameMatched(): boolean {
    return (this.#matches.at(-1) ?? 'unmatched') !== 'unmatched';
  }

  get hasMatchInStack(): boolean {
    return this.#matches.some((match) => match !== 'unmatched');
  }

  /** Whether the tree authorizes the current call. If so, that authorization is used. */
  match(asked: xdr.SorobanAuthorizedFunction, mayBeRoot: boolean): boolean {
    if (this.isFrameMatched) return false;
    const last = this.#last();
    if (last === undefined) {
      if (this.#root.isExhausted || !mayBeRoot || !isSame(this.#root.function, asked)) return false;
      this.#root.isExhausted = true;
      this.#rootDepth = this.#matches.length - 1;
      this.#matches[this.#matches.length - 1] = 'root';
      return true;
    }
    const child = last.subInvocations.findIndex((one) => !one.isExhausted && isSame(one.function, asked));
    const found = last.subInvocations[child];
    if (found === undefined) return false;
    found.isExhausted = true;
    this.#matches[this.#matches.length - 1] = { child };
    return true;
  }

  /** Adds the call that is being made to the tree. */
  record(asked: xdr.SorobanAuthorizedFunction): void {
    const last = this.#last();
    if (last === undefined) throw new Error('There is no call above that is authorized.');
    last.subInvocations.push({ function: asked, subInvocations: [], isExhausted: true });
    this.#matches[this.#matches.length - 1] = { child: last.subInvocations.length - 1 };
  }

  toXdr(): xdr.SorobanAuthorizedInvocation {
    return invocationXdr(this.#root);
  }

  /** The innermost call on the stack that the tree has matched. */
  #last(): Authorized | undefined {
    let last: Authorized | undefined;
    for (const match of this.#matches) {
      if (match === 'root') last = this.#root;
      else if (match !== 'unmatched') last = last?.subInvocations[match.child];
    }
    return last;
  }
}

function authorizedOf({ function: asked, subInvocations }: xdr.SorobanAuthorizedInvocation): Authorized {
  return { function: asked, subInvocations: subInvocations.map(authorizedOf), isExhausted: false };
}

function invocationXdr({ function: asked, subInvocations }: Authorized): xdr.SorobanAuthorizedInvocation {
  return new xdr.SorobanAuthorizedInvocation({ function: asked, subInvocations: subInvocations.map(invocationXdr) });
}

const isSame = (one: xdr.SorobanAuthorizedFunction, other: xdr.SorobanAuthorizedFunction): boolean =>
  one.toXdr('base64') === other.toXdr('base64');
