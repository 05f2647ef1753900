/**
 * Returns what `asked` resolves to; undefined when it takes longer than `milliseconds`. A later result or error is
 * ignored.
 */
export async function inTime<T>(milliseconds: number, asked: Promise<T>): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), milliseconds);
  asked.catch(() => {});
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
