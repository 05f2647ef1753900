/** What was typed is not what the command takes. */
export class UsageError extends Error {}

export function number(text: string): number {
  const value = Number(text);
  if (text === '' || !Number.isFinite(value) || value < 0) throw new UsageError(`"${text}" is not a number`);
  return value;
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
