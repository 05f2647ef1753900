/** `performance.now()` in milliseconds since the isolate began (High Resolution Time 7). */
export function createPerformance(now: () => number): object {
  const timeOrigin = Date.now() - now();
  return { now, timeOrigin, toJSON: () => ({ timeOrigin }) };
}
