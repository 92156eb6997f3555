// A series by day as bars, and the same as a table for screen readers.
import { useId } from 'preact/hooks';
import { t } from '../texts/texts.ts';
import { formatDay } from './format.ts';

export interface Day {
  readonly date: string;
  readonly value: number;
  /** A part of the value that is drawn apart, as errors among requests. */
  readonly minor?: number;
}

interface BarChartProps {
  readonly title: string;
  readonly days: readonly Day[];
  readonly format: (value: number) => string;
  readonly valueLabel: string;
  readonly minorLabel?: string | undefined;
}

/** The bars are stretched to the room that there is; the text beside them keeps its size. */
const width = 600;
const height = 100;

export function BarChart({ title, days, format, valueLabel, minorLabel }: BarChartProps) {
  const id = useId();
  const largest = Math.max(1, ...days.map(({ value }) => value));
  const step = width / days.length;
  const scale = height / largest;
  const say = ({ date, value, minor = 0 }: Day) =>
    `${formatDay(date)}: ${format(value)} ${valueLabel}${minorLabel ? `, ${format(minor)} ${minorLabel}` : ''}`;
  return (
    <figure class="chart">
      <div class="chart-scale" aria-hidden="true">
        {format(largest)}
      </div>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-labelledby={id} role="img">
        <title id={id}>{title}</title>
        {days.map((day, index) => (
          <g key={day.date}>
            <title>{say(day)}</title>
            <rect x={index * step} width={step} height={height} fill="transparent" />
            <Bar x={index * step} width={step} height={day.value * scale} kind="bar" />
            <Bar x={index * step} width={step} height={(day.minor ?? 0) * scale} kind="bar minor" />
          </g>
        ))}
      </svg>
      <div class="chart-dates" aria-hidden="true">
        {[0, Math.floor(days.length / 2), days.length - 1].map((index) => (
          <span key={index}>{days[index] && formatDay(days[index].date)}</span>
        ))}
      </div>
      <DayTable {...{ title, days, format, valueLabel, minorLabel }} />
    </figure>
  );
}

interface BarProps {
  readonly x: number;
  readonly width: number;
  readonly height: number;
  readonly kind: string;
}

/** A value that is not zero stays visible. */
const Bar = ({ x, width, height: wanted, kind }: BarProps) => {
  if (wanted <= 0) return null;
  const shown = Math.max(wanted, 2);
  return <rect class={kind} x={x + width * 0.15} width={width * 0.7} y={height - shown} height={shown} />;
};

const DayTable = ({ title, days, format, valueLabel, minorLabel }: BarChartProps) => (
  <table class="unseen">
    <caption>{title}</caption>
    <thead>
      <tr>
        <th scope="col">{t.ui.date}</th>
        <th scope="col">{valueLabel}</th>
        {minorLabel && <th scope="col">{minorLabel}</th>}
      </tr>
    </thead>
    <tbody>
      {days.map(({ date, value, minor }) => (
        <tr key={date}>
          <th scope="row">{date}</th>
          <td>{format(value)}</td>
          {minorLabel && <td>{format(minor ?? 0)}</td>}
        </tr>
      ))}
    </tbody>
  </table>
);
