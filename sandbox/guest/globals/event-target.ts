type Listener = ((event: unknown) => unknown) | { handleEvent(event: unknown): unknown } | null;

interface Registration {
  readonly listener: NonNullable<Listener>;
  readonly capture: boolean;
  readonly once: boolean;
}

interface ListenerOptions {
  capture?: boolean;
  once?: boolean;
  passive?: boolean;
  signal?: { readonly aborted: boolean; addEventListener(type: string, listener: () => void): void };
}

interface EventSettings {
  bubbles?: boolean;
  cancelable?: boolean;
  composed?: boolean;
}

/** The classes Event and EventTarget; `report` gets what a listener throws, which its dispatcher never sees. */
export function createEventClasses(report: (error: unknown) => void) {
  let dispatch: (
    event: Event,
    target: EventTarget,
    registrations: Registration[],
    drop: (one: Registration) => void,
  ) => boolean;

  /** An event (DOM Standard 2.2); there is no tree here, so it only ever visits its target. */
  class Event {
    static readonly NONE = 0;
    static readonly CAPTURING_PHASE = 1;
    static readonly AT_TARGET = 2;
    static readonly BUBBLING_PHASE = 3;

    readonly #type: string;
    readonly #settings: EventSettings;
    readonly #timeStamp = Date.now();
    #target: EventTarget | null = null;
    #phase = Event.NONE;
    #canceled = false;
    #stopped = false;

    constructor(type: unknown, settings: EventSettings = {}) {
      this.#type = String(type);
      this.#settings = { ...settings };
    }

    get type(): string {
      return this.#type;
    }

    get target(): EventTarget | null {
      return this.#target;
    }

    get srcElement(): EventTarget | null {
      return this.#target;
    }

    get currentTarget(): EventTarget | null {
      return this.#phase === Event.NONE ? null : this.#target;
    }

    get eventPhase(): number {
      return this.#phase;
    }

    get bubbles(): boolean {
      return Boolean(this.#settings.bubbles);
    }

    get cancelable(): boolean {
      return Boolean(this.#settings.cancelable);
    }

    get composed(): boolean {
      return Boolean(this.#settings.composed);
    }

    get defaultPrevented(): boolean {
      return this.#canceled;
    }

    get isTrusted(): boolean {
      return false;
    }

    get timeStamp(): number {
      return this.#timeStamp;
    }

    composedPath(): EventTarget[] {
      return this.#phase === Event.NONE || this.#target === null ? [] : [this.#target];
    }

    preventDefault(): void {
      if (this.cancelable) this.#canceled = true;
    }

    stopPropagation(): void {}

    stopImmediatePropagation(): void {
      this.#stopped = true;
    }

    get [Symbol.toStringTag](): string {
      return 'Event';
    }

    /** Visits the listeners of a target; what one of them throws does not keep the next from running. */
    static #visit(event: Event, target: EventTarget, registrations: Registration[], drop: (one: Registration) => void) {
      event.#target = target;
      event.#phase = Event.AT_TARGET;
      event.#stopped = false;
      for (const registration of [...registrations]) {
        if (event.#stopped) break;
        if (!registrations.includes(registration)) continue;
        if (registration.once) drop(registration);
        const { listener } = registration;
        try {
          if (typeof listener === 'function') Reflect.apply(listener, target, [event]);
          else listener.handleEvent(event);
        } catch (error) {
          report(error);
        }
      }
      event.#phase = Event.NONE;
      return !event.#canceled;
    }

    static {
      dispatch = Event.#visit;
    }
  }

  /** A target of events (DOM Standard 2.7). */
  class EventTarget {
    readonly #registrations = new Map<string, Registration[]>();

    addEventListener(type: unknown, listener: Listener, options: boolean | ListenerOptions = {}): void {
      if (listener === null || listener === undefined) return;
      const { capture = false, once = false, signal } = typeof options === 'boolean' ? { capture: options } : options;
      if (signal?.aborted) return;
      const name = String(type);
      const registrations = this.#registrations.get(name) ?? [];
      if (registrations.some((one) => one.listener === listener && one.capture === capture)) return;
      registrations.push({ listener, capture, once });
      this.#registrations.set(name, registrations);
      signal?.addEventListener('abort', () => this.removeEventListener(name, listener, { capture }));
    }

    removeEventListener(type: unknown, listener: Listener, options: boolean | ListenerOptions = {}): void {
      const capture = typeof options === 'boolean' ? options : (options.capture ?? false);
      const registrations = this.#registrations.get(String(type)) ?? [];
      const index = registrations.findIndex((one) => one.listener === listener && one.capture === capture);
      if (index >= 0) registrations.splice(index, 1);
    }

    /** False when a listener prevented the default. */
    dispatchEvent(event: Event): boolean {
      const registrations = this.#registrations.get(event.type) ?? [];
      const drop = (one: Registration) => registrations.splice(registrations.indexOf(one), 1);
      return dispatch(event, this, registrations, drop);
    }

    get [Symbol.toStringTag](): string {
      return 'EventTarget';
    }
  }

  return { Event, EventTarget };
}

export type EventClasses = ReturnType<typeof createEventClasses>;
