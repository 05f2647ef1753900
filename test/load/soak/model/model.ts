import { sideBySide } from '../../../check/project.ts';
import { describeHistory, drawHistories, type History, liveThrough } from '../../../support/model/histories.ts';
import { isFaultless } from '../../../support/model/judge.ts';
import type { AnyWorldKind } from '../../../support/model/world.ts';
import { worlds } from '../../../support/model/worlds.ts';
import type { Line } from '../report.ts';

export interface ModelOptions {
  /** Histories in each world. */
  readonly histories: number;
  readonly seed: number;
  say(text: string): void;
}

/** Histories that run at once. They mostly wait, so several use the processor better. */
const AT_ONCE = 8;

/** Runs random histories in each of the model's worlds. @returns each fault with the history that shows it */
export async function soakModel(options: ModelOptions): Promise<{ lines: Line[]; faults: string[] }> {
  const lines: Line[] = [];
  const faults: string[] = [];
  for (const kind of worlds) {
    const accepted = await soakWorld(kind, options, faults);
    lines.push([kind.name, `${options.histories} histories, ${accepted} accepted`]);
  }
  return { lines, faults };
}

async function soakWorld(
  kind: AnyWorldKind,
  { histories, seed, say }: ModelOptions,
  faults: string[],
): Promise<number> {
  let accepted = 0;
  const live = async (history: History<unknown>) => {
    try {
      const outcome = await liveThrough(kind, history);
      accepted += outcome.accepted;
      if (isFaultless(outcome.faults)) return;
      faults.push(`${kind.name}: ${JSON.stringify(outcome.faults)} in ${describeHistory(history)}`);
    } catch (error) {
      const cause = error instanceof Error ? `${String(error.cause)} in ${error.message}` : String(error);
      faults.push(`${kind.name}: ${cause}`);
    }
    say(`fault: ${faults.at(-1)}`);
  };
  for await (const _ of sideBySide(drawHistories(kind, histories, seed), AT_ONCE, live));
  return accepted;
}
