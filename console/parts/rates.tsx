import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { listen } from '../live.ts';
import { Pieces } from '../pieces.ts';
import { Plot } from './plot.tsx';

const KINDS = ['accepted', 'mined', 'failed'] as const;
type Kind = (typeof KINDS)[number];

const KIND_OF: Readonly<Record<string, Kind>> = {
  pending: 'accepted',
  mined: 'mined',
  failed: 'failed',
  expired: 'failed',
};

const MINUTE_MS = 60_000;

const none = (): Record<Kind, number> => ({ accepted: 0, mined: 0, failed: 0 });

/** Shows how many transactions were accepted, mined and failed since the page was opened, and further figures. */
export function Rates({ children }: { children?: ComponentChildren }) {
  const counts = useRef(new Pieces(none)).current;
  const [lastMinute, setLastMinute] = useState(none);
  const [openedAt] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setLastMinute(sumOf(counts.lastMinute())), 1_000);
    const stop = listen({
      transaction: ({ status }) => {
        const kind = KIND_OF[status];
        if (kind !== undefined) counts.now()[kind] += 1;
      },
    });
    return () => {
      clearInterval(timer);
      stop();
    };
  }, []);
  const since = Date.now() - openedAt < MINUTE_MS ? 'since this page was opened' : 'in the last minute';
  return (
    <section class="rates" aria-label="Transactions of the last minute">
      <div class="figures">
        {KINDS.map((kind) => (
          <div key={kind} class={lastMinute[kind] === 0 ? '' : kind}>
            <strong>{lastMinute[kind]}</strong>
            <span>
              {kind} {since}
            </span>
          </div>
        ))}
        {children}
      </div>
      <Plot
        lines={KINDS.map((kind) => ({ label: kind, colour: `--${kind}` }))}
        read={() => {
          const [moments, pieces] = counts.all();
          const valueOf = (kind: Kind, piece: Record<Kind, number> | undefined) =>
            piece?.[kind] || (kind === 'failed' ? null : 0);
          return [moments, ...KINDS.map((kind) => pieces.map((piece) => valueOf(kind, piece)))];
        }}
        height={150}
        least={4}
      />
    </section>
  );
}

function sumOf(pieces: readonly Record<Kind, number>[]): Record<Kind, number> {
  const sum = none();
  for (const piece of pieces) for (const kind of KINDS) sum[kind] += piece[kind];
  return sum;
}
