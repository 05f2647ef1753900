import { effect } from '@preact/signals';
import type { Schemas } from '../../src/client/api.ts';
import { listen } from '../live.ts';
import { PIECE_MS, Pieces } from '../pieces.ts';
import { client } from '../session.ts';
import { Plot } from './plot.tsx';

/** The most durations that a piece of five seconds keeps. */
const MAX_DURATIONS = 2_000;

interface Piece {
  calls: number;
  durations: number[];
  cpuMs: number;
  residentBytes: number | null;
}

/**
 * A plugin's usage since the page was opened. Calls are recorded as they end, other figures when the plugin is loaded.
 */
class PluginUsage {
  readonly #pieces = new Pieces<Piece>(() => ({ calls: 0, durations: [], cpuMs: 0, residentBytes: null }));
  #cpuMs: number | undefined;

  called(durationMs: number): void {
    const piece = this.#pieces.now();
    piece.calls += 1;
    if (piece.durations.length < MAX_DURATIONS) piece.durations.push(durationMs);
  }

  seen({ now, last_hour: { cpu_ms: cpuMs } }: Pick<Schemas['Plugin'], 'now' | 'last_hour'>): void {
    const piece = this.#pieces.now();
    piece.residentBytes = now.resident_bytes;
    piece.cpuMs += Math.max(0, cpuMs - (this.#cpuMs ?? cpuMs));
    this.#cpuMs = cpuMs;
  }

  calls(): [number[], number[]] {
    const [moments, pieces] = this.#pieces.all();
    return [moments, pieces.map((piece) => ((piece?.calls ?? 0) * 1_000) / PIECE_MS)];
  }

  durations(): [number[], (number | null)[], (number | null)[]] {
    const [moments, pieces] = this.#pieces.all();
    const sorted = pieces.map((piece) => piece?.durations.toSorted((a, b) => a - b) ?? []);
    return [moments, sorted.map((all) => at(all, 0.5)), sorted.map((all) => at(all, 0.99))];
  }

  /** Processor time: milliseconds per second. */
  processor(): [number[], number[]] {
    const [moments, pieces] = this.#pieces.all();
    return [moments, pieces.map((piece) => ((piece?.cpuMs ?? 0) * 1_000) / PIECE_MS)];
  }

  /** Memory in MB. */
  memory(): [number[], (number | null)[]] {
    const [moments, pieces] = this.#pieces.all();
    return [moments, pieces.map((piece) => (piece?.residentBytes == null ? null : piece.residentBytes / 1_048_576))];
  }

  lastMinute(): { perSecond: number; p50: number | null; p99: number | null } {
    const pieces = this.#pieces.lastMinute();
    const durations = pieces.flatMap((piece) => piece.durations).toSorted((a, b) => a - b);
    const calls = pieces.reduce((sum, piece) => sum + piece.calls, 0);
    return { perSecond: calls / 60, p50: at(durations, 0.5), p99: at(durations, 0.99) };
  }
}

function at(sorted: readonly number[], part: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null;
}

const usages = new Map<string, PluginUsage>();

// The next key must not see the data of the previous one.
effect(() => {
  if (client.value === null) usages.clear();
});

export function usageOf(pluginId: string): PluginUsage {
  const usage = usages.get(pluginId) ?? new PluginUsage();
  usages.set(pluginId, usage);
  return usage;
}

listen({ call: ({ plugin_id: id, duration_ms: duration }) => usageOf(id).called(duration) });

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
