/** How to ask about several items that one account pays for. */
export interface Asking<T, A> {
  /** @param committed what is taken from the account already */
  ask(item: T, committed: bigint): Promise<A>;
  /**
   * The further amount that an answer takes from the account; undefined for an item that does not count, as when it
   * cannot go on.
   */
  takes(answer: A, item: T): bigint | undefined;
}

/**
 * Asks about all items at once, each as if it were the only one. Then asks about the last one again, with the cost of
 * the others added, to see whether the account can pay for all. If it cannot, asks about the items one after the other.
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
