/**
 * How an RPC endpoint stands: `ready`; `paused` after failures; `limited`, as it asked to be left alone; `unfit` for what
 * it says of itself, such as another chain.
 */
export const ENDPOINT_STATES = ['ready', 'paused', 'limited', 'unfit'] as const;

export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** A change of what is to be expected of an endpoint. Its name is scheme, host and port; the reason holds no key. */
export type EndpointNews =
  | { kind: 'paused' | 'limited' | 'unfit'; endpoint: string; reason: string; forMs: number }
  /** It answers, and has been behind the others for longer than a moment. */
  | { kind: 'behind'; endpoint: string; reason: string }
  /** It serves again after one of the above. */
  | { kind: 'back'; endpoint: string };

/** How one endpoint stands now. */
export interface EndpointStatus {
  /** Scheme, host and port. */
  endpoint: string;
  state: EndpointState;
  /** Calls that it is given at once at most. */
  concurrency: number;
}
