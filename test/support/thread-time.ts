/**
 * Meters the processor time of this thread from now on, in milliseconds. It bounds what code costs: unlike a clock it
 * does not run while the machine does something else.
 */
export function meterThread(): () => number {
  const begun = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(begun);
    return (user + system) / 1000;
  };
}
