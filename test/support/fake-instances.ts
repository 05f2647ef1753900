import type { Instances } from '../../src/store/instances.ts';

/** What several instances over one embedded store say of themselves, each heard for as long as it has not left. */
export class FakeInstances {
  readonly #words = new Map<number, ReadonlySet<string>>();
  #count = 0;
  readonly #lastsMs: number;

  constructor(lastsMs = 20) {
    this.#lastsMs = lastsMs;
  }

  /** As one more instance has it; it is not there before its first word. */
  join(): Instances {
    this.#count += 1;
    const me = this.#count;
    return {
      lastsMs: this.#lastsMs,
      say: async (unreached) => {
        this.#words.set(me, new Set(unreached));
        return [...this.#words].flatMap(([id, word]) => (id === me ? [] : [word]));
      },
      leave: async () => void this.#words.delete(me),
    };
  }
}
