/** Works on all items, so many at a time, and hands out each result in the order of the items. */
export async function* sideBySide<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const outcomes = items.map((item) => ({ item, ...Promise.withResolvers<Result>() }));
  // A result that nobody has asked for yet may already be an error; asking is what reports it.
  for (const { promise } of outcomes) promise.catch(() => {});

  const waiting = outcomes.values();
  const worker = async () => {
    for (const { item, resolve, reject } of waiting) await work(item).then(resolve, reject);
  };
  const workers = Array.from({ length: width }, worker);
  for (const { promise } of outcomes) yield await promise;
  await Promise.all(workers);
}
