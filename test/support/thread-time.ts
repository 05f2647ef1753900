/**
 * Measures the processor time of this thread from now on, in milliseconds. Unlike a clock it excludes the time of other
 * processes, so a test can limit what code costs.
 */
export function meterThread(): () => number {
  const begun = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(begun);
    return (user + system) / 1000;
  };
}
