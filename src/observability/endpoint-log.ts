import type { EndpointNews } from '../domain/endpoint-news.ts';
import type { Log } from './log.ts';

const TEXTS = {
  paused: 'endpoint paused',
  limited: 'endpoint asks for a pause',
  unfit: 'endpoint set aside',
  behind: 'endpoint is behind',
} as const;

/**
 * Logs one line for each change of an endpoint: the endpoint, the reason and the end time. `now` is in milliseconds
 * since the epoch.
 */
export function logEndpoint(log: Log, network: string, news: EndpointNews, now: number): void {
  const { endpoint } = news;
  if (news.kind === 'back') {
    log.info({ network, endpoint }, 'endpoint serves again');
    return;
  }
  const until = 'forMs' in news ? { until: new Date(now + news.forMs).toISOString() } : {};
  log.warn({ network, endpoint, reason: news.reason, ...until }, TEXTS[news.kind]);
}
