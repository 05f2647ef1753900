import { parseDone, parseReturned } from '../../host/child/child-messages.ts';
import { Channel } from '../../process/channel.ts';
import { type DoneMessage, UP } from '../../protocol.ts';

/** A channel that keeps what was sent instead of writing it. */
export class RecordedChannel extends Channel {
  readonly frames: [kind: number, call: number, text: string][] = [];
  flushes = 0;

  constructor() {
    super(-1);
  }

  override send(kind: number, call: number, text: string): void {
    this.frames.push([kind, call, text]);
  }

  override flush(): void {
    this.flushes += 1;
  }

  /** The ends of calls, as the host reads them. */
  ends(): DoneMessage[] {
    return this.frames.flatMap(([kind, , text]) =>
      kind === UP.DONE ? [parseDone(text)] : kind === UP.RETURNED ? [parseReturned(text)] : [],
    );
  }

  /** The texts of one kind. */
  texts(kind: number): string[] {
    return this.frames.filter(([one]) => one === kind).map(([, , text]) => text);
  }
}
