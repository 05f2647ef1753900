import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { encodeFrame, FRAME_HEADER_BYTES, FrameDecoder, type FramePayloadLimit } from '../../frames.ts';
import { type DoorAddress, KNOCK } from '../../protocol.ts';
import { childPayloadLimits, MAX_HOST_PAYLOAD } from './child-messages.ts';
import type { JournalReader } from './journal.ts';

export interface LinkEvents {
  /** @throws ProtocolViolation; it is then passed to `onError` */
  onFrame(kind: number, call: number, text: string): void;
  /** A frame that is too large for the host's loop. No other frame comes before {@link ChildLink.goOn}. */
  onLargeFrame(kind: number, call: number, payload: Uint8Array): void;
  onError(error: Error): void;
  /** The channel has ended, and all its frames have been passed on. */
  onEnd(): void;
}

/** What handling a frame costs the host's loop, beside its bytes, in the same unit. */
const FRAME_COST = 64;
/** How much of one child is handled before the loop turns to others. */
const MAX_TURN_COST = 32_768;
/** How much a child may say unasked: at once, and for each millisecond, all children together that say too much. */
const MAX_UNASKED_COST = 262_144;
const UNASKED_COST_PER_MS = 4096;
/** How much a child may say for each frame that it gets. */
const COST_PER_FRAME_SENT = 4096;
/** The longest time for which a child waits before it is counted again, in milliseconds. */
const MAX_WAIT_MS = 50;

/**
 * The host's end of a child's channel. The child is not trusted: of what it says, the loop handles only so much in one
 * turn, and only so much in any time. Until then the rest waits in the child. What a child gets to read lets it say
 * more, so a child that answers calls seldom waits.
 */
export class ChildLink {
  readonly #events: LinkEvents;
  readonly #journal: JournalReader | undefined;
  readonly #throttled: Set<ChildLink>;
  readonly #decoder: FrameDecoder;
  /** Undefined until the child has its end. Until then, frames wait in the outbox. */
  #socket: Socket | undefined;
  #outbox: Buffer[] = [];
  #outboxBytes = 0;
  #turnCost = 0;
  #unaskedCost = 0;
  #countedAt = performance.now();
  #isParsing = false;
  #isClosed = false;
  #hasEnded = false;

  /**
   * @param throttled the links that have to wait, of all children
   * @param journal the child's journal, if it has one; closed with the link
   */
  constructor(events: LinkEvents, throttled: Set<ChildLink>, journal?: JournalReader) {
    this.#events = events;
    this.#throttled = throttled;
    this.#journal = journal;
    this.#decoder = new FrameDecoder(
      childPayloadLimits({ result_bytes: 0 }),
      (kind, call, text) => {
        if (this.#isClosed) return;
        this.#count(text.length);
        events.onFrame(kind, call, text);
      },
      {
        bytes: MAX_HOST_PAYLOAD,
        onFrame: (kind, call, payload) => {
          if (this.#isClosed) return;
          this.#count(0);
          this.#isParsing = true;
          this.#decoder.hold();
          events.onLargeFrame(kind, call, payload);
        },
      },
    );
  }

  set mostBytes(limit: FramePayloadLimit) {
    this.#decoder.mostBytes = limit;
  }

  /** True while a part of a frame is here. */
  get holding(): boolean {
    return this.#decoder.holding;
  }

  /** True while frames have to wait: for a large one that is being parsed elsewhere, or for a later turn. */
  get isHeld(): boolean {
    return this.#decoder.isHeld;
  }

  get isAttached(): boolean {
    return this.#socket !== undefined;
  }

  /** Bytes that the child has not read yet. */
  get backlogBytes(): number {
    return (this.#socket?.writableLength ?? 0) + this.#outboxBytes;
  }

  /** Connects the link to the child. */
  attach(socket: Socket): void {
    if (this.#isClosed) return void socket.destroy();
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    // A child that dies breaks the pipe; its exit says more.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#ended());
    this.#flush();
  }

  send(kind: number, call: number, text: string): void {
    this.sendFrame(encodeFrame(kind, call, text));
  }

  sendFrame(frame: Buffer): void {
    if (this.#isClosed || this.#socket?.writable === false) return;
    this.#unaskedCost -= COST_PER_FRAME_SENT;
    this.#outboxBytes += frame.length;
    // All frames of one turn of the loop leave in one system call.
    if (this.#outbox.push(frame) === 1) setImmediate(() => this.#flush());
  }

  /** Reads what the child noted in its journal and did not send. Does nothing without a journal. */
  look(): void {
    if (this.#journal === undefined || this.#isClosed || this.#decoder.isHeld) return;
    try {
      this.#journal.read((bytes) => this.#push(bytes));
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Acts on a large frame that was parsed, as `onFrame` would, and goes on with the next frames. */
  goOn(act: () => void): void {
    if (this.#isClosed) return;
    this.#isParsing = false;
    try {
      act();
    } catch (error) {
      return this.#refuse(error);
    }
    this.#proceed();
  }

  /** Hears and says nothing more. Safe to call twice. */
  mute(): void {
    this.#isClosed = true;
    this.#throttled.delete(this);
  }

  /** Safe to call twice. */
  close(): void {
    this.mute();
    this.#socket?.destroy();
    this.#journal?.close();
  }

  #flush(): void {
    if (this.#socket === undefined) return;
    const frames = this.#outbox;
    const bytes = this.#outboxBytes;
    this.#outbox = [];
    this.#outboxBytes = 0;
    if (bytes === 0 || !this.#socket.writable) return;
    this.#socket.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames, bytes));
  }

  #receive(chunk: Buffer): void {
    if (this.#isClosed) return;
    try {
      const news = this.#journal === undefined ? chunk : this.#journal.unread(chunk);
      if (news.length > 0) this.#push(news);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** @throws ProtocolViolation */
  #push(bytes: Buffer): void {
    this.#decoder.push(bytes);
    if (this.#decoder.isHeld) this.#socket?.pause();
  }

  /** Counts a frame, and holds the next ones back when it is their turn only later. */
  #count(bytes: number): void {
    const cost = FRAME_COST + bytes;
    this.#unaskedCost += cost;
    if (this.#turnCost === 0) setImmediate(() => this.#nextTurn());
    this.#turnCost += cost;
    if (this.#turnCost > MAX_TURN_COST) this.#decoder.hold();
  }

  #nextTurn(): void {
    this.#turnCost = 0;
    const now = performance.now();
    const perMs = UNASKED_COST_PER_MS / Math.max(1, this.#throttled.size);
    // What was credited ahead of its frames stays credited.
    const less = Math.max(0, this.#unaskedCost - (now - this.#countedAt) * perMs);
    this.#unaskedCost = Math.max(-MAX_UNASKED_COST, Math.min(this.#unaskedCost, less));
    this.#countedAt = now;
    const waitMs = (this.#unaskedCost - MAX_UNASKED_COST) / perMs;
    if (waitMs <= 0) {
      this.#throttled.delete(this);
      if (this.#decoder.isHeld && !this.#isParsing) this.#proceed();
    } else if (!this.#isClosed) {
      this.#throttled.add(this);
      this.#decoder.hold();
      this.#socket?.pause();
      this.#turnCost = MAX_TURN_COST;
      setTimeout(() => this.#nextTurn(), Math.min(waitMs, MAX_WAIT_MS));
    }
  }

  /** Passes on the frames that were held back. */
  #proceed(): void {
    if (this.#isClosed || this.#isParsing || this.#throttled.has(this)) return;
    try {
      this.#decoder.release();
    } catch (error) {
      return this.#refuse(error);
    }
    if (this.#decoder.isHeld) return;
    if (this.#hasEnded) this.#events.onEnd();
    else this.#socket?.resume();
  }

  #ended(): void {
    this.#hasEnded = true;
    if (!this.#decoder.isHeld) this.#events.onEnd();
  }

  #refuse(error: unknown): void {
    this.mute();
    this.#socket?.destroy();
    this.#events.onError(error instanceof Error ? error : new Error(String(error)));
  }
}

/** How long a connection may take to say for which child it is, in milliseconds. */
const KNOCK_MS = 5000;

/** Where driver threads bring the channels of their children. */
export class ChildDoor {
  readonly address: DoorAddress;
  readonly #server: Server;
  readonly #expected = new Map<number, (socket: Socket) => void>();

  constructor() {
    const name = `isolayer-${randomBytes(16).toString('hex')}`;
    // Linux has names that are no files. So nothing is left when the service is killed.
    const at = process.platform === 'linux' ? `\0${name}` : path.join(tmpdir(), name);
    this.address = { path: at, secret: randomBytes(16).toString('hex') };
    this.#server = createServer((socket) => this.#answer(socket));
    this.#server.on('error', () => undefined);
    this.#server.listen({ path: at });
    this.#server.unref();
  }

  /** Calls `take` with the channel of the child. */
  expect(child: number, take: (socket: Socket) => void): void {
    this.#expected.set(child, take);
  }

  /** Safe to call for any child. */
  forget(child: number): void {
    this.#expected.delete(child);
  }

  close(): void {
    this.#server.close();
    this.#expected.clear();
  }

  #answer(socket: Socket): void {
    const refuse = () => void socket.destroy();
    const timer = setTimeout(refuse, KNOCK_MS);
    const decoder = new FrameDecoder(
      (kind) => (kind === KNOCK ? this.address.secret.length : undefined),
      (_, child, secret) => {
        clearTimeout(timer);
        decoder.hold();
        const take = this.#expected.get(child);
        if (take === undefined || !isSame(secret, this.address.secret)) return refuse();
        this.#expected.delete(child);
        socket.removeAllListeners('data');
        take(socket);
      },
    );
    socket.on('error', () => clearTimeout(timer));
    socket.on('close', () => clearTimeout(timer));
    socket.on('data', (chunk: Buffer) => {
      // The child says nothing before it is spoken to, so no byte comes after the knock.
      if (decoder.isHeld || chunk.length > FRAME_HEADER_BYTES + this.address.secret.length) return refuse();
      try {
        decoder.push(chunk);
      } catch {
        refuse();
      }
    });
  }
}

function isSame(one: string, other: string): boolean {
  const [ones, others] = [Buffer.from(one), Buffer.from(other)];
  return ones.length === others.length && timingSafeEqual(ones, others);
}
