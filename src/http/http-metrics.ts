/** The events that the server counts. `endpoint` is a route's pattern, or `unmatched`. */
export interface HttpMetrics {
  began(endpoint: string): void;
  ended(request: { endpoint: string; method: string; status: number; seconds: number }): void;
  /** A handler exceeded its deadline. */
  timedOut(endpoint: string, method: string): void;
  /** A plugin that exists was called. */
  pluginCalled(pluginId: string, method: string, status: number): void;
}
