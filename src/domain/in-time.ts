/** What was asked for, unless it takes longer: then undefined, and what becomes of it later is for nobody. */
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
