import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

interface PlotProps {
  /** The lines, each with the name of its colour in the style sheet. */
  lines: readonly { label: string; colour: string }[];
  /** Returns the data, and is called every second: the times in seconds, then the values of each line. */
  read: () => uPlot.AlignedData;
  height: number;
  /** The upper end of the scale while no value is higher. */
  least: number;
  /** Whether some times have no value. Then each value is drawn as a point. */
  isSparse?: boolean;
}

/** Plots lines over time, and keeps them up to date. Users who cannot see the plot read the figures beside it. */
export function Plot(props: PlotProps) {
  const { read, height } = props;
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    const target = place.current;
    if (target === null) return undefined;
    const drawn = () => new uPlot(optionsFor(target, props), latest.current(), target);
    let plot = drawn();
    // A canvas keeps its colours, so it is drawn again when the colour scheme changes.
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => {
      plot.destroy();
      plot = drawn();
    };
    scheme.addEventListener('change', redraw);
    const sized = new ResizeObserver(() => plot.setSize({ width: target.clientWidth, height }));
    sized.observe(target);
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') plot.setData(latest.current());
    }, 1_000);
    return () => {
      clearInterval(timer);
      scheme.removeEventListener('change', redraw);
      sized.disconnect();
      plot.destroy();
    };
  }, []);
  return <div class="plot" ref={place} aria-hidden="true" />;
}

function clock(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString([], { timeStyle: 'medium', hourCycle: 'h23' });
}

function optionsFor(target: HTMLElement, { lines, height, least, isSparse = false }: PlotProps): uPlot.Options {
  // A canvas does not resolve CSS variables. An element's computed colour does.
  const probe = target.appendChild(document.createElement('i'));
  const colour = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  const options: uPlot.Options = {
    width: target.clientWidth || 300,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(least, most)] } },
    axes: [
      { ...axis, size: 28, space: 90, values: (_plot, moments) => moments.map(clock) },
      { ...axis, size: 40 },
    ],
    series: [
      {},
      ...lines.map(({ label, colour: name }) => ({
        label,
        stroke: colour(name),
        width: 2,
        spanGaps: true,
        points: { show: isSparse, size: 4 },
      })),
    ],
  };
  probe.remove();
  return options;
}
