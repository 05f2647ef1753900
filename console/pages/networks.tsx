import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Schemas } from '../../src/client/api.ts';
import { type Figures, parseFigures, quantile, sumsBy } from '../figures.ts';
import { useCall, useEvery } from '../load.ts';
import { ListOf, Pages, Table } from '../parts/table.tsx';
import { Badge } from '../parts/text.tsx';

const PER_PAGE = 25;
const LOOK_EVERY_MS = 15_000;
const STATES = 'isolayer_rpc_endpoints';
const PAUSES = 'isolayer_rpc_endpoint_pauses_total';
const DURATIONS = 'isolayer_rpc_call_duration_seconds';

export function Networks() {
  const [page, setPage] = useState(1);
  const networks = useCall('listNetworks', { query: { page, per_page: PER_PAGE } });
  const figures = useEndpointFigures();
  return (
    <>
      <h1>Networks</h1>
      <ListOf loaded={networks} empty="There is no network that this key may see.">
        {(items) => (
          <Table name="Networks" heads={['Network', 'Family', 'Endpoints', 'From']}>
            {items
              .toSorted((a, b) => Number(isUsed(b, figures)) - Number(isUsed(a, figures)))
              .map((one) => (
                <tr key={one.id}>
                  <td data-head="Network">
                    <strong>{one.name}</strong> {one.is_testnet === true && <span class="quiet">test network</span>}
                  </td>
                  <td data-head="Family">{one.network_type}</td>
                  <td data-head="Endpoints" class="wrap">
                    <div>
                      {one.rpc_urls.map(({ url, weight }) => (
                        <Endpoint key={url} network={one.name} name={nameOf(url)} url={url} figures={figures}>
                          weight {weight}
                        </Endpoint>
                      ))}
                      {othersOf(one, figures).map((name) => (
                        <Endpoint key={name} network={one.name} name={name} url={name} figures={figures}>
                          a relayer’s own
                        </Endpoint>
                      ))}
                    </div>
                  </td>
                  <td data-head="From">{one.source}</td>
                </tr>
              ))}
          </Table>
        )}
      </ListOf>
      <Pages page={page} of={networks.value?.pagination} go={setPage} />
    </>
  );
}

/** The metrics of endpoints; undefined for a key that may not see metrics. */
function useEndpointFigures(): Figures | undefined {
  const states = useCall('getMetric', { path: { name: STATES } });
  const pauses = useCall('getMetric', { path: { name: PAUSES } });
  const durations = useCall('getMetric', { path: { name: DURATIONS } });
  for (const one of [states, pauses, durations]) useEvery(LOOK_EVERY_MS, one.reload);
  if (states.value === undefined) return undefined;
  return parseFigures(`${states.value}\n${pauses.value ?? ''}\n${durations.value ?? ''}`);
}

interface EndpointProps {
  network: string;
  /** Scheme, host and port. The metrics use this as the endpoint's label. */
  name: string;
  url: string;
  figures: Figures | undefined;
  children: ComponentChildren;
}

/** Shows an endpoint's state, its response times, and why it was left alone. */
function Endpoint({ network, name, url, figures, children }: EndpointProps) {
  const which = { network: [network], endpoint: [name] };
  const states = [...sumsBy(figures?.get(STATES), 'state', which)].filter(([, count]) => count > 0);
  const pauses = [...sumsBy(figures?.get(PAUSES), 'reason', which)].filter(([, count]) => count > 0);
  const durations = (figures?.get(`${DURATIONS}_bucket`) ?? []).filter(({ labels }) => labels['endpoint'] === name);
  const [p50, p99] = [quantile(durations, 0.5), quantile(durations, 0.99)];
  return (
    <p class="endpoint">
      {states.map(([state]) => (
        <Badge key={state} state={state} />
      ))}{' '}
      {url}{' '}
      <span class="quiet">
        {children}
        {p50 !== undefined && p99 !== undefined && ` · p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}`}
        {pauses.length > 0 && ` · paused: ${pauses.map(([why, count]) => `${count} × ${why}`).join(', ')}`}
      </span>
    </p>
  );
}

function milliseconds(seconds: number): string {
  return `${Math.round(seconds * 1_000)} ms`;
}

function nameOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}

function isUsed({ name }: Pick<Schemas['Network'], 'name'>, figures: Figures | undefined): boolean {
  return (figures?.get(STATES) ?? []).some(({ labels }) => labels['network'] === name);
}

/** The endpoints that relayers on a network use and that are not the network's own. */
function othersOf({ name, rpc_urls }: Schemas['Network'], figures: Figures | undefined): string[] {
  const known = new Set(rpc_urls.map(({ url }) => nameOf(url)));
  return [...sumsBy(figures?.get(STATES), 'endpoint', { network: [name] }).keys()].filter((one) => !known.has(one));
}
