const AT_ONCE = 16;

/** Calls `ask` for each item, {@link AT_ONCE} at a time. @returns the answers in the order of the items */
export async function eachOf<In, Out>(items: readonly In[], ask: (item: In) => Promise<Out>): Promise<Out[]> {
  const out: Out[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    out.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(ask))));
  }
  return out;
}
