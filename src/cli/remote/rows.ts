/** Characters that control a terminal. Displayed texts may come from strangers. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Escapes a text so that it cannot control the terminal. */
export function plain(text: string): string {
  return text.replaceAll(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Formats a table, with each column as wide as its longest cell. */
export function rowsOf(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heads, ...rows.map((row) => row.map(plain))];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Writes a value as one line of JSON. Integers keep all their digits. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner));
}

/** Formats items as a table for people, or each as a line of JSON for programs. */
export function itemLines<Item>(
  items: readonly Item[],
  { heads, row, isJson }: { heads: readonly string[]; row: (item: Item) => string[]; isJson: boolean },
): string[] {
  return isJson ? items.map(jsonLine) : rowsOf(heads, items.map(row));
}
