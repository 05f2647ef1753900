/** Types of the part of autocannon 9 that the benchmarks use. The package has no types. */
declare module 'autocannon' {
  namespace autocannon {
    interface Options {
      url: string;
      method: string;
      headers: Record<string, string>;
      body?: string;
      connections: number;
      /** Seconds. */
      duration: number;
    }
    interface Result {
      '2xx': number;
      non2xx: number;
      errors: number;
      /** Seconds. */
      duration: number;
      /** Milliseconds. */
      latency: { p50: number; p99: number };
    }
  }
  function autocannon(options: autocannon.Options): Promise<autocannon.Result>;
  export default autocannon;
}
