import { type CloneResult, transferListOf } from '../structured-clone.ts';
import { conformToWebIdl } from '../web-idl.ts';
import type { EventKinds } from './event-kinds.ts';
import type { EventClasses } from './event-target.ts';

/** What ports work with. */
export interface MessageServices {
  events: EventClasses;
  MessageEvent: EventKinds['MessageEvent'];
  DOMException: new (message: string, name: string) => Error;
  clone(value: unknown, transfer: Iterable<unknown>): CloneResult;
  setTimer(callback: () => void, delayMs: number): unknown;
}

/** The classes MessageChannel and MessagePort (HTML 9.4): both ends are in one isolate, and messages are copies. */
export function createMessageClasses({ events, MessageEvent, DOMException, clone, setTimer }: MessageServices) {
  const { Event, EventTarget, defineHandler, fire } = events;
  const permit = Symbol('permit');
  let entangle: (one: MessagePort, other: MessagePort) => void;
  let move: (port: MessagePort) => (() => MessagePort) | null;

  class MessagePort extends EventTarget {
    declare onmessage: ((event: unknown) => unknown) | null;
    declare onmessageerror: ((event: unknown) => unknown) | null;
    #peer: MessagePort | null = null;
    #queue: CloneResult[] = [];
    /** Whether the port was closed or transferred. */
    #isDetached = false;
    #started = false;
    #armed = false;

    constructor(given?: symbol) {
      if (given !== permit) throw new TypeError('Illegal constructor');
      super();
    }

    postMessage(message: unknown, options?: unknown): void {
      const isList = typeof options === 'object' && options !== null && Symbol.iterator in options;
      const transfer = [...(isList ? (options as Iterable<unknown>) : transferListOf(options))];
      if (transfer.includes(this)) throw new DOMException('A port cannot send itself', 'DataCloneError');
      const sent = clone(message, transfer);
      const peer = this.#peer;
      if (peer !== null) peer.#take(sent);
    }

    start(): void {
      this.#started = true;
      this.#arm();
    }

    close(): void {
      const peer = this.#peer;
      this.#isDetached = true;
      this.#peer = null;
      this.#queue = [];
      if (peer === null) return;
      peer.#peer = null;
      setTimer(() => fire(peer, new Event('close')), 0);
    }

    #take(sent: CloneResult): void {
      this.#queue.push(sent);
      this.#arm();
    }

    /** Delivers one message a turn, as tasks do. */
    #arm(): void {
      if (!this.#started || this.#armed || this.#queue.length === 0) return;
      this.#armed = true;
      setTimer(() => {
        this.#armed = false;
        const sent = this.#queue.shift();
        if (sent === undefined) return;
        this.#arm();
        const ports = sent.moved.filter((one) => one instanceof MessagePort);
        fire(this, new MessageEvent('message', { data: sent.value, ports }));
      }, 0);
    }

    /** Transfers a port. Messages on their way to it come to the new port. */
    static #move(port: MessagePort): (() => MessagePort) | null {
      if (port.#isDetached) return null;
      return () => {
        const made = new MessagePort(permit);
        const peer = port.#peer;
        made.#queue = port.#queue;
        if (peer !== null) entangle(made, peer);
        port.#isDetached = true;
        port.#peer = null;
        port.#queue = [];
        return made;
      };
    }

    static {
      move = MessagePort.#move;
      entangle = (one, other) => {
        one.#peer = other;
        other.#peer = one;
      };
    }
  }

  class MessageChannel {
    readonly #ports = [new MessagePort(permit), new MessagePort(permit)] as const;

    constructor() {
      entangle(...this.#ports);
    }

    get port1(): MessagePort {
      return this.#ports[0];
    }

    get port2(): MessagePort {
      return this.#ports[1];
    }
  }

  // Setting a handler starts the port. Adding a listener does not: the plugin has to call `start`.
  defineHandler(MessagePort, 'message', (port) => (port as MessagePort).start());
  defineHandler(MessagePort, 'messageerror');
  defineHandler(MessagePort, 'close');
  conformToWebIdl(MessagePort, { required: { postMessage: 1 } });
  conformToWebIdl(MessageChannel);
  return {
    MessageChannel,
    MessagePort,
    /** Transfers a port. Null for a port that was closed or transferred, undefined for any other object. */
    movePort: (value: object) => (value instanceof MessagePort ? move(value) : undefined),
  };
}
