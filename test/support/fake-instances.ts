import type { Instances } from '../../src/store/instances.ts';

/** What several instances report of themselves over one embedded store. An instance is listed until it leaves. */
export class FakeInstances {
  readonly #words = new Map<number, ReadonlySet<string>>();
  #count = 0;
  readonly #lastsMs: number;

  constructor(lastsMs = 20) {
    this.#lastsMs = lastsMs;
  }

  /** The view of a further instance. The instance is not listed before its first report. */
  join(): Instances {
    this.#count += 1;
    const me = this.#count;
    return {
      lastsMs: this.#lastsMs,
      say: async (unreached) => {
        this.#words.set(me, new Set(unreached));
        return [...this.#words].flatMap(([id, word]) => (id === me ? [] : [word]));
      },
      isOurs: () => true,
      leave: async () => void this.#words.delete(me),
    };
  }
}
