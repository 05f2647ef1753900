/** Repeats a request until the answer is as wanted, for at most `ms`. */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  wanted: (answer: T) => boolean,
  ms = 10_000,
): Promise<T> {
  const end = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (wanted(answer) || performance.now() > end) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
