import { usageOf } from '../plugin-usage.ts';
import { Plot } from './plot.tsx';

const HEIGHT = 120;

/** Plots a plugin's activity over time. */
export function PluginPlots({ id }: { id: string }) {
  const usage = usageOf(id);
  const { perSecond, p50, p99 } = usage.lastMinute();
  const cpu = usage.processor()[1].at(-2) ?? 0;
  const memory = usage.memory()[1].findLast((value) => value !== null);
  return (
    <div class="plots">
      <figure>
        <figcaption>
          Calls per second <strong>{perSecond.toFixed(1)}</strong>
        </figcaption>
        <Plot lines={[{ label: 'calls', colour: '--accepted' }]} read={() => usage.calls()} height={HEIGHT} least={1} />
      </figure>
      <figure>
        <figcaption>
          Duration <strong>{p50 === null ? '—' : `p50 ${p50} ms, p99 ${p99} ms`}</strong>
        </figcaption>
        <Plot
          lines={[
            { label: 'p50', colour: '--mined' },
            { label: 'p99', colour: '--waiting' },
          ]}
          read={() => usage.durations()}
          height={HEIGHT}
          least={10}
          isSparse
        />
      </figure>
      <figure>
        <figcaption>
          Processor, ms in a second <strong>{cpu.toFixed(1)}</strong>
        </figcaption>
        <Plot
          lines={[{ label: 'ms', colour: '--accepted' }]}
          read={() => usage.processor()}
          height={HEIGHT}
          least={10}
          isSparse
        />
      </figure>
      <figure>
        <figcaption>
          Memory <strong>{memory == null ? '—' : `${memory.toFixed(1)} MB`}</strong>
        </figcaption>
        <Plot
          lines={[{ label: 'MB', colour: '--mined' }]}
          read={() => usage.memory()}
          height={HEIGHT}
          least={10}
          isSparse
        />
      </figure>
    </div>
  );
}
