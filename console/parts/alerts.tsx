import type { Alert } from '../alerts.ts';
import { type Figures, sumsBy } from '../figures.ts';
import { to } from '../place.ts';
import { durationText } from './duration.ts';
import { Badge, Note } from './text.tsx';

/** Lists the alerts that will fire if nothing changes. */
export function Alerts({ alerts }: { alerts: readonly Alert[] }) {
  return (
    <section aria-labelledby="alerts">
      <h2 id="alerts">Alerts that would fire</h2>
      {alerts.length === 0 ? (
        <Note>None.</Note>
      ) : (
        <ul class="list">
          {alerts.map(({ alert, severity, lasting, text, room, who }) => (
            <li key={`${alert} ${who}`}>
              <Badge state={severity} /> {room === undefined ? text : <a href={to(...placeOf(room, who))}>{text}</a>}{' '}
              <span class="quiet">
                {alert}, after {lasting} min
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function placeOf(room: string, who: string): string[] {
  return who === '' || room === 'networks' ? [room] : [room, who];
}

/** Shows the age of the oldest transaction that has not ended, and its relayer. */
export function OldestOpen({ figures }: { figures: Figures }) {
  const ages = [...sumsBy(figures.get('isolayer_transactions_oldest_open_age_seconds'), 'relayer_id')];
  const [oldest] = ages.filter(([, seconds]) => seconds > 0).sort(([, a], [, b]) => b - a);
  return (
    <div>
      <strong>{oldest === undefined ? '—' : durationText(oldest[1] * 1_000)}</strong>
      <span>
        oldest open{oldest === undefined ? '' : ', of '}
        {oldest !== undefined && <a href={to('transactions', oldest[0])}>{oldest[0]}</a>}
      </span>
    </div>
  );
}
