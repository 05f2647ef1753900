import { DOMException } from '../dom-exception.ts';
import { conformToWebIdl, tooFewArguments } from '../web-idl.ts';

type Listener = ((event: unknown) => unknown) | { handleEvent(event: unknown): unknown } | null;

interface Registration {
  readonly listener: NonNullable<Listener>;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
}

interface ListenerOptions {
  capture?: boolean;
  once?: boolean;
  passive?: boolean;
  signal?: { readonly aborted: boolean; addEventListener(type: string, listener: () => void): void };
}

export interface EventSettings {
  bubbles?: boolean;
  cancelable?: boolean;
  composed?: boolean;
}

/**
 * The classes Event and EventTarget. `report` gets each error that a listener throws; the dispatching code never sees
 * it. `now` is the clock of `performance`.
 */
export function createEventClasses(report: (error: unknown) => void, now: () => number = () => 0) {
  let dispatch: (event: Event, how: Dispatch<Registration>) => boolean;
  let isTrusted: (event: Event) => boolean;
  let fire: (target: EventTarget, event: Event) => boolean;
  /** For a target, the object that its events show as their target. The global object uses this for its own target. */
  const shown = new WeakMap<EventTarget, object>();
  /** For a target, the function to call when its listeners change. */
  const watched = new WeakMap<EventTarget, () => void>();

  /** An event (DOM Standard 2.2). There is no tree here, so an event only visits its target. */
  class Event {
    #type: string;
    #settings: EventSettings;
    readonly #timeStamp = now();
    #target: object | null = null;
    #phase: number = PHASES.NONE;
    #canceled = false;
    /** `path` stops the listeners of later phases, `all` stops every later listener. */
    #stopped: 'no' | 'path' | 'all' = 'no';
    #inPassive = false;
    #trusted = false;

    constructor(type: unknown, settings: EventSettings | null = {}) {
      if (arguments.length === 0) throw tooFewArguments('Event', 1);
      this.#type = `${type as string}`;
      this.#settings = settingsOf(settings);
      Object.defineProperty(this, 'isTrusted', { get: trusted.get, enumerable: true });
    }

    get type(): string {
      return this.#type;
    }

    get target(): object | null {
      return this.#target;
    }

    get srcElement(): object | null {
      return this.#target;
    }

    get currentTarget(): object | null {
      return this.#phase === PHASES.NONE ? null : this.#target;
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

    get returnValue(): boolean {
      return !this.#canceled;
    }

    set returnValue(value: boolean) {
      if (!value) this.preventDefault();
    }

    get cancelBubble(): boolean {
      return this.#stopped !== 'no';
    }

    set cancelBubble(value: boolean) {
      if (value) this.stopPropagation();
    }

    get timeStamp(): number {
      return this.#timeStamp;
    }

    composedPath(): object[] {
      return this.#phase === PHASES.NONE || this.#target === null ? [] : [this.#target];
    }

    preventDefault(): void {
      if (this.cancelable && !this.#inPassive) this.#canceled = true;
    }

    stopPropagation(): void {
      if (this.#stopped === 'no') this.#stopped = 'path';
    }

    stopImmediatePropagation(): void {
      this.#stopped = 'all';
    }

    initEvent(type: unknown, bubbles: unknown = false, cancelable: unknown = false): void {
      if (this.#phase !== PHASES.NONE) return;
      this.#type = `${type as string}`;
      this.#settings = { bubbles: Boolean(bubbles), cancelable: Boolean(cancelable), composed: false };
      this.#target = null;
      this.#canceled = false;
      this.#stopped = 'no';
      this.#trusted = false;
    }

    static #isTrusted(event: Event): boolean {
      return event.#trusted;
    }

    /**
     * Calls the listeners of a target, those for the capturing phase first. An error in one listener does not keep the
     * next from running.
     */
    static #visit(event: Event, { target, registrations, drop, isTrusted }: Dispatch<Registration>): boolean {
      if (event.#phase !== PHASES.NONE) {
        throw new DOMException('The event is already being dispatched', 'InvalidStateError');
      }
      event.#target = target;
      event.#phase = PHASES.AT_TARGET;
      event.#trusted = isTrusted;
      for (const capture of [true, false]) {
        if (event.#stopped !== 'no') break;
        for (const registration of registrations.filter((one) => one.capture === capture)) {
          if (!registrations.includes(registration)) continue;
          if (registration.once) drop(registration);
          event.#inPassive = registration.passive;
          try {
            Event.#call(registration.listener, target, event);
          } catch (error) {
            report(error);
          }
          // The cast is for TypeScript, which assumes that the field has not changed since the loop began.
          if ((event.#stopped as string) === 'all') break;
        }
      }
      event.#phase = PHASES.NONE;
      event.#inPassive = false;
      event.#stopped = 'no';
      return !event.#canceled;
    }

    static #call(listener: NonNullable<Listener>, target: object, event: Event): void {
      if (typeof listener === 'function') {
        Reflect.apply(listener, target, [event]);
        return;
      }
      const { handleEvent } = listener;
      if (typeof handleEvent !== 'function') throw new TypeError('The listener has no handleEvent');
      Reflect.apply(handleEvent, listener, [event]);
    }

    static {
      dispatch = Event.#visit;
      isTrusted = Event.#isTrusted;
    }
  }

  for (const owner of [Event, Event.prototype]) {
    for (const [name, value] of Object.entries(PHASES)) Object.defineProperty(owner, name, { value, enumerable: true });
  }
  // The getter of `isTrusted`. Each event has the property as its own, and all share the getter (DOM 2.2,
  // [LegacyUnforgeable]).
  const trusted = Object.getOwnPropertyDescriptor(
    {
      get isTrusted(): boolean {
        return isTrusted(this);
      },
    },
    'isTrusted',
  ) as { get: () => boolean };
  Object.freeze(trusted.get);

  /** A target of events (DOM Standard 2.7). */
  class EventTarget {
    readonly #registrations = new Map<string, Registration[]>();

    addEventListener(type: unknown, listener: Listener, options: unknown = {}): void {
      const given = listenerOptions(options);
      const { capture = false, once = false, passive = false, signal } = given;
      if (signal !== undefined && !isSignal(signal)) throw new TypeError('The signal must be an AbortSignal');
      if (listener === null || listener === undefined) return;
      if (typeof listener !== 'function' && typeof listener !== 'object') {
        throw new TypeError('A listener is a function or an object');
      }
      if (signal?.aborted) return;
      const name = `${type as string}`;
      const registrations = this.#registrations.get(name) ?? [];
      const isCapture = Boolean(capture);
      if (registrations.some((one) => one.listener === listener && one.capture === isCapture)) return;
      // Reports the change before it is made, so that a stack overflow leaves no unreported change.
      watched.get(this)?.();
      registrations.push({ listener, capture: isCapture, once: Boolean(once), passive: Boolean(passive) });
      this.#registrations.set(name, registrations);
      signal?.addEventListener('abort', () => this.removeEventListener(name, listener, { capture: isCapture }));
    }

    removeEventListener(type: unknown, listener: Listener, options: unknown = {}): void {
      const capture = Boolean(listenerOptions(options).capture);
      const registrations = this.#registrations.get(`${type as string}`) ?? [];
      const index = registrations.findIndex((one) => one.listener === listener && one.capture === capture);
      if (index < 0) return;
      watched.get(this)?.();
      registrations.splice(index, 1);
    }

    /** False when a listener prevented the default. */
    dispatchEvent(event: Event): boolean {
      return EventTarget.#dispatch(this, event, false);
    }

    static #dispatch(target: EventTarget, event: Event, byRuntime: boolean): boolean {
      if (!(event instanceof Event)) throw new TypeError('What is dispatched is no Event');
      const registrations = target.#registrations.get(event.type) ?? [];
      const drop = (one: Registration) => registrations.splice(registrations.indexOf(one), 1);
      return dispatch(event, { target: shown.get(target) ?? target, registrations, drop, isTrusted: byRuntime });
    }

    static {
      fire = (target, event) => EventTarget.#dispatch(target, event, true);
    }
  }

  conformToWebIdl(Event, { required: { initEvent: 1 } });
  conformToWebIdl(EventTarget, { required: { addEventListener: 2, removeEventListener: 2, dispatchEvent: 1 } });

  /**
   * Gives a class an attribute `on…` (HTML 8.1.8.1). The first handler takes its place among the listeners. A handler
   * that replaces it keeps that place.
   */
  function defineHandler(Class: { prototype: EventTarget }, type: string, onSet?: (target: EventTarget) => void): void {
    const handlers = new WeakMap<EventTarget, { value: unknown }>();
    Object.defineProperty(Class.prototype, `on${type}`, {
      get(this: EventTarget): unknown {
        return handlers.get(this)?.value ?? null;
      },
      set(this: EventTarget, value: unknown) {
        const isHandler = typeof value === 'function' || (typeof value === 'object' && value !== null);
        const known = handlers.get(this);
        if (known !== undefined) known.value = isHandler ? value : null;
        else if (isHandler) {
          const handler: { value: unknown } = { value };
          // Adds the listener first. This throws if `this` is no target, such as the prototype, which would keep the
          // handler for all objects.
          this.addEventListener(type, (given) => {
            const event = given as Event;
            if (typeof handler.value !== 'function') return;
            if (Reflect.apply(handler.value, this, [event]) === false) event.preventDefault();
          });
          handlers.set(this, handler);
        }
        onSet?.(this);
      },
      enumerable: true,
      configurable: true,
    });
  }

  return {
    Event,
    EventTarget,
    defineHandler,
    /** Dispatches an event of the runtime itself. */
    fire: (target: EventTarget, event: Event) => fire(target, event),
    /** Makes the events of a target show another object as their target. */
    showAs: (target: EventTarget, other: object) => void shown.set(target, other),
    /** Calls `changed` whenever listeners of a target are added or removed. For targets that all calls share. */
    watch: (target: EventTarget, changed: () => void) => void watched.set(target, changed),
  };
}

const PHASES = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 } as const;

interface Dispatch<R> {
  target: object;
  registrations: R[];
  drop(one: R): void;
  isTrusted: boolean;
}

/** Reads a dictionary (Web IDL 3.2.17): an object, undefined or null. */
function settingsOf(given: unknown): EventSettings {
  if (given === undefined || given === null) return {};
  if (typeof given !== 'object' && typeof given !== 'function') throw new TypeError('The settings are no object');
  const { bubbles, cancelable, composed } = given as EventSettings;
  return { bubbles: Boolean(bubbles), cancelable: Boolean(cancelable), composed: Boolean(composed) };
}

function listenerOptions(given: unknown): ListenerOptions {
  const isObject = (typeof given === 'object' && given !== null) || typeof given === 'function';
  return isObject ? (given as ListenerOptions) : { capture: Boolean(given) };
}

function isSignal(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'aborted' in given;
}

export type EventClasses = ReturnType<typeof createEventClasses>;
