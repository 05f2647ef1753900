/**
 * The state of an RPC endpoint. `ready`: it serves. `paused`: it failed. `limited`: it asked to be left alone. `unfit`:
 * what it says of itself rules it out, such as another chain.
 */
export const ENDPOINT_STATES = ['ready', 'paused', 'limited', 'unfit'] as const;

export type EndpointState = (typeof ENDPOINT_STATES)[number];

/** A change in the state of an endpoint. `endpoint` is scheme, host and port; `reason` holds no key. */
export type EndpointNews =
  | { kind: 'paused' | 'limited' | 'unfit'; endpoint: string; reason: string; forMs: number }
  /** The endpoint answers, and has been behind the others for longer than a moment. */
  | { kind: 'behind'; endpoint: string; reason: string }
  /** The endpoint serves again after one of the above. */
  | { kind: 'back'; endpoint: string };

/** How one endpoint stands now. */
export interface EndpointStatus {
  /** Scheme, host and port. */
  endpoint: string;
  state: EndpointState;
  /** The methods that only advise and that the endpoint last did not answer usably. */
  unanswered: readonly UnansweredMethod[];
}

/** A method that only advises, and that an endpoint does not answer usably. */
export interface UnansweredMethod {
  method: string;
  /** What the endpoint said; it holds no key. */
  reason: string;
  /** What is lost without the answer. */
  cost: string;
}
