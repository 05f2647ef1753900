import type { Instruments } from './instruments.ts';
import { LateCounts } from './late-counts.ts';

/** Plugin calls and the processes that run them. */
export class PluginCounts {
  readonly #ends = new LateCounts();
  readonly #seconds;
  readonly #capabilities;
  readonly #kills;
  readonly #processes;
  readonly #running;
  readonly #queued;
  readonly #isolates;
  readonly #memory;
  readonly #cpu;
  readonly #bytesIn;
  readonly #bytesOut;
  readonly #heapPeaks;
  readonly #refused;

  constructor(instruments: Instruments) {
    instruments.counter('isolayer_plugin_call_outcomes_total', (counter) =>
      this.#ends.takeOver(([pluginId, outcome = ''], amount) => counter.inc({ plugin_id: pluginId, outcome }, amount)),
    );
    this.#seconds = instruments.histogram('isolayer_plugin_call_duration_seconds');
    this.#capabilities = instruments.counter('isolayer_plugin_capability_calls_total');
    this.#kills = instruments.counter('isolayer_plugin_process_ends_total');
    this.#processes = instruments.gauge('isolayer_plugin_processes');
    this.#running = instruments.gauge('isolayer_plugin_calls_running');
    this.#queued = instruments.gauge('isolayer_plugin_calls_queued');
    this.#isolates = instruments.gauge('isolayer_plugin_isolates');
    this.#memory = instruments.gauge('isolayer_plugin_resident_memory_bytes');
    this.#cpu = instruments.counter('isolayer_plugin_cpu_seconds_total');
    this.#bytesIn = instruments.counter('isolayer_plugin_received_bytes_total');
    this.#bytesOut = instruments.counter('isolayer_plugin_sent_bytes_total');
    this.#heapPeaks = instruments.gauge('isolayer_plugin_heap_peak_bytes');
    this.#refused = instruments.gauge('isolayer_plugin_refused');
    this.#beginKills('', ['start']);
  }

  callEnded(pluginId: string, end: string, seconds: number): void {
    this.#ends.add(1, pluginId, end);
    this.#seconds.observe({ plugin_id: pluginId }, seconds);
  }

  capabilityCalled(pluginId: string, method: string, answer: string): void {
    this.#capabilities.inc({ plugin_id: pluginId, method, answer });
  }

  processKilled(pluginId: string, cause: string): void {
    this.#kills.inc({ plugin_id: pluginId, cause });
  }

  /** Starts series at 0. Prometheus sees no increase in a series that starts with its first count. */
  #beginKills(pluginId: string, causes: readonly string[]): void {
    for (const cause of causes) this.#kills.inc({ plugin_id: pluginId, cause }, 0);
  }

  load({ processes, running, queued }: { processes: number; running: number; queued: number }): void {
    this.#processes.set(processes);
    this.#running.set(running);
    this.#queued.set(queued);
  }

  /** Sets the counters of usage to sums from the plugin host, so that a call costs nothing here. */
  usage({ totals, heapPeaks }: Usage): void {
    for (const counter of [this.#cpu, this.#bytesIn, this.#bytesOut]) counter.reset();
    for (const { pluginId, outcome, cpuMs, bytesIn, bytesOut } of totals) {
      const labels = { plugin_id: pluginId, outcome };
      this.#cpu.inc(labels, cpuMs / 1000);
      this.#bytesIn.inc(labels, bytesIn);
      this.#bytesOut.inc(labels, bytesOut);
    }
    this.#heapPeaks.reset();
    for (const [pluginId, bytes] of heapPeaks) this.#heapPeaks.set({ plugin_id: pluginId }, bytes);
  }

  /** Sets the gauges of all plugins. Removed plugins lose their labels. */
  standings(plugins: readonly { id: string; refused: boolean }[]): void {
    this.#refused.reset();
    for (const { id, refused } of plugins) {
      this.#refused.set({ plugin_id: id }, refused ? 1 : 0);
      this.#beginKills(id, ['memory', 'overdue', 'died', 'protocol']);
      for (const outcome of ['SERVICE_UNAVAILABLE', 'SANDBOX_LOST']) this.#ends.add(0, id, outcome);
    }
  }

  /** Sets the gauges of all processes, added up for each plugin. */
  uses(processes: readonly ProcessUse[]): void {
    this.#isolates.reset();
    this.#memory.reset();
    for (const { pluginId, isolates, residentBytes } of processes) {
      this.#isolates.inc({ plugin_id: pluginId }, isolates);
      this.#memory.inc({ plugin_id: pluginId }, residentBytes);
    }
  }
}

/** The usage of plugin calls since the start, by outcome, and their largest heaps of the last hour. */
interface Usage {
  totals: Iterable<{ pluginId: string; outcome: string; cpuMs: number; bytesIn: number; bytesOut: number }>;
  heapPeaks: ReadonlyMap<string, number>;
}

/** One process, as last metered; `pluginId` is empty for a spare. */
interface ProcessUse {
  pluginId: string;
  isolates: number;
  residentBytes: number;
}
