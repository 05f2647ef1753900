import { mapForEach, NativeProxy, regExpExec, SafeMap, stringIncludes } from './intrinsics/primordials.ts';

/** Names that operators set, in upper case. Packages probe lower-case names, and the names in {@link PROBED}. */
const NAME = /^[A-Z][A-Z0-9_]{1,99}$/;
const PROBED =
  /^(?:CI|DEBUG|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|NO_DEPRECATION|TRACE_DEPRECATION|TZ|LANG|HOME|PATH|PWD|USER|SHELL|READABLE_STREAM|BABEL_.*|JEST_.*|VITEST.*|NODE_.*|(?:ALL|HTTPS?|NO)_PROXY|WS_NO_.*|.*_JSON_PATH)$/;
const MAX = 64;
/** A hint guesses at most so many names. A call that reads more names reads all its settings, so no guess is useful. */
const MAX_GUESSED = 3;

/**
 * Records the names that a plugin reads from its environment and does not find. Nothing else reveals a name that the
 * plugin puts together at run time.
 */
export class UngrantedEnvironmentReads {
  /** For each missing name, whether it has been reported. */
  #missed: SafeMap<string, boolean> = new SafeMap();
  #ofCall: SafeMap<string, true> = new SafeMap();

  /** The environment as the plugin sees it: an ordinary object, except that reads of missing names are recorded. */
  watch(env: Record<string, string>): Record<string, string> {
    return new NativeProxy(env, {
      __proto__: null,
      get: (target: Record<string, unknown>, key: string | symbol) => {
        if (typeof key === 'string' && !(key in target)) this.#note(key);
        return target[key as string];
      },
    } as ProxyHandler<Record<string, string>>);
  }

  /** Forgets all reads, because the module runs anew. */
  forget(): void {
    if (this.#missed.size > 0) this.#missed = new SafeMap();
    this.begin();
  }

  /** Begins a call. */
  begin(): void {
    if (this.#ofCall.size > 0) this.#ofCall = new SafeMap();
  }

  /** Reports each missing name once. */
  report(name: (name: string) => void): void {
    mapForEach(this.#missed, (isTold, key) => {
      if (isTold === true) return;
      this.#missed.set(key as string, true);
      name(key as string);
    });
  }

  /**
   * Text to add to a failure's message. It lists the missing names that the message mentions. If the message mentions
   * none, it lists the few that the call has read.
   */
  hint(message: string): string {
    if (this.#missed.size === 0) return '';
    const named: SafeMap<string, true> = new SafeMap();
    mapForEach(this.#missed, (_, name) => {
      if (stringIncludes(message, name as string)) named.set(name as string, true);
    });
    const guessed = this.#ofCall.size <= MAX_GUESSED ? this.#ofCall : named;
    let text = '';
    mapForEach(named.size > 0 ? named : guessed, (_, name) => {
      text += ` (process.env.${name as string} is not granted: add "${name as string}" to permissions.env of its entry in config.json)`;
    });
    return text;
  }

  #note(name: string): void {
    if (regExpExec(NAME, name) === null || regExpExec(PROBED, name) !== null) return;
    if (!this.#missed.has(name) && this.#missed.size < MAX) this.#missed.set(name, false);
    if (this.#ofCall.size <= MAX_GUESSED) this.#ofCall.set(name, true);
  }
}
