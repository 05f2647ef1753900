/** How several are asked for that one account pays. */
export interface Asking<T, A> {
  /** @param committed what is taken from the account already */
  ask(item: T, committed: bigint): Promise<A>;
  /** What an answer takes from the account in addition; undefined when that is nothing, for it cannot go on. */
  takes(answer: A, item: T): bigint | undefined;
}

/**
 * Asks for all at once, each as if the others did not exist. Whether the account bears them together shows by asking for
 * the last one again, with what the others take; where it does not, they are asked for one after the other.
 * @returns one answer for each, in order
 */
export async function askTogether<T, A>(
  items: readonly T[],
  committed: bigint,
  { ask, takes }: Asking<T, A>,
): Promise<A[]> {
  const answers = await Promise.all(items.map((item) => ask(item, committed)));
  const taken = items.map((item, index) => takenBy(takes, answers[index], item));
  const last = taken.findLastIndex((cost) => cost !== undefined);
  const others = taken.slice(0, Math.max(last, 0)).filter((cost) => cost !== undefined);
  const item = items[last];
  if (item === undefined || others.length === 0) return answers;
  const again = await ask(
    item,
    others.reduce((sum, cost) => sum + cost, committed),
  );
  return takes(again, item) === undefined ? askInTurn(items, committed, { ask, takes }) : answers;
}

function takenBy<T, A>(takes: Asking<T, A>['takes'], answer: A | undefined, item: T): bigint | undefined {
  return answer === undefined ? undefined : takes(answer, item);
}

async function askInTurn<T, A>(items: readonly T[], committed: bigint, { ask, takes }: Asking<T, A>): Promise<A[]> {
  const answers: A[] = [];
  let taken = committed;
  for (const item of items) {
    const answer = await ask(item, taken);
    taken += takes(answer, item) ?? 0n;
    answers.push(answer);
  }
  return answers;
}
