import type { EventClasses } from '../globals/events/event-target.ts';
import { conformToWebIdl } from '../globals/web-idl.ts';
import type { RuntimeServices } from '../lazy-module-loader.ts';

/** `performance` and its class (High Resolution Time 7). Marks, measures and observers are not there. */
export function create({ dom, now, origin, changed }: Pick<RuntimeServices, 'dom' | 'now' | 'origin' | 'changed'>) {
  const { EventTarget, watch } = dom() as unknown as EventClasses;
  const permit = Symbol('permit');

  class Performance extends EventTarget {
    readonly #now = now;
    readonly #origin = origin;

    constructor(given?: unknown) {
      if (given !== permit) throw new TypeError('Illegal constructor');
      super();
    }

    get timeOrigin(): number {
      return this.#origin();
    }

    /** In milliseconds. */
    now(): number {
      return this.#now();
    }

    toJSON(): object {
      return { timeOrigin: this.#origin() };
    }
  }

  conformToWebIdl(Performance);
  const performance = new Performance(permit);
  watch(performance, changed);
  return { Performance, performance };
}
