import type { Schemas } from '../../src/client/api.ts';
import { priceOf } from '../../src/client/format.ts';
import { durationText, Note } from './text.tsx';

type Event = Schemas['TimelineEvent'];

interface Attempt {
  version: number;
  purpose: string;
  signedAt: number;
  takenAt: number | undefined;
  price: string;
}

const WIDTH = 1000;
const ROW = 34;

/**
 * Shows each attempt as a bar over time. The bar starts at the signature, and is filled from the time when a node took
 * the attempt.
 */
export function Attempts({ events }: { events: readonly Event[] }) {
  const attempts = attemptsOf(events);
  const [first] = events;
  if (attempts.length === 0 || first === undefined) return <Note>Nothing is signed yet.</Note>;
  const begin = Date.parse(first.at);
  const ended = events.find((event) => event.event === 'ended');
  const end = Math.max(ended === undefined ? Date.now() : Date.parse(ended.at), begin + 1_000);
  const x = (at: number) => ((at - begin) / (end - begin)) * WIDTH;
  return (
    <figure class="attempts">
      <svg
        viewBox={`0 0 ${WIDTH} ${attempts.length * ROW + 4}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={tell(attempts)}
      >
        {attempts.map(({ version, purpose, signedAt, takenAt }, index) => {
          const until = attempts[index + 1]?.signedAt ?? end;
          const y = index * ROW + 4;
          return (
            <g key={version} class={purpose}>
              <rect
                class="signed"
                x={x(signedAt)}
                y={y}
                width={Math.max(6, x(until) - x(signedAt))}
                height={ROW - 8}
                rx="4"
              />
              {takenAt !== undefined && (
                <rect
                  class="taken"
                  x={x(takenAt)}
                  y={y}
                  width={Math.max(6, x(until) - x(takenAt))}
                  height={ROW - 8}
                  rx="4"
                />
              )}
            </g>
          );
        })}
      </svg>
      <figcaption>
        {attempts.map(({ version, purpose, price }) => (
          <span key={version}>
            <i class={`swatch ${purpose}`} aria-hidden="true" /> {version}. {purpose} {price}
          </span>
        ))}
        <span class="quiet">{durationText(end - begin)} in all</span>
      </figcaption>
    </figure>
  );
}

function attemptsOf(events: readonly Event[]): Attempt[] {
  const taken = new Map(
    events.flatMap((event) => (event.event === 'submitted' ? [[event.version, Date.parse(event.at)] as const] : [])),
  );
  return events.flatMap((event) =>
    event.event === 'signed'
      ? [
          {
            version: event.version,
            purpose: event.purpose,
            signedAt: Date.parse(event.at),
            takenAt: taken.get(event.version),
            price: priceOf(event.content),
          },
        ]
      : [],
  );
}

function tell(attempts: readonly Attempt[]): string {
  return attempts.map(({ version, purpose, price }) => `Attempt ${version}: ${purpose} ${price}`).join('. ');
}
