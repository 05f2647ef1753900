import { type MarketClient, MarketFailure } from '../../src/egress/market-client.ts';

/** A market that is not available. */
export const NO_MARKET: MarketClient = {
  get: () => Promise.reject(new MarketFailure('there is none')),
  post: () => Promise.reject(new MarketFailure('there is none')),
};
