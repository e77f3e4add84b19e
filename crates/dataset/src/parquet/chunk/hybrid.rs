//! The hybrid encoding of Parquet for numbers of few bits: runs of equal numbers, and groups of eight packed ones.
//! Levels and dictionary indices use it.

/// The number of values in a packed group; a run is shorter than packing from so many equal values on.
const GROUP: usize = 8;

/// The number of bits that the largest number needs.
pub(crate) fn width(largest: u32) -> u32 {
    u32::BITS - largest.leading_zeros()
}

/// Appends numbers of `width` bits.
pub(crate) fn encode<T: Copy + PartialEq + Into<u32>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    // The values before a run are packed in whole groups, so a run is only looked for where a group would begin.
    let (mut packed, mut rest): (&[T], &[T]) = (&[], values);
    let mut from = values;
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|value| *value == first).count();
        if run < GROUP {
            let group = rest.len().min(GROUP);
            rest = rest.split_at(group).1;
            packed = from.split_at(from.len() - rest.len()).0;
            continue;
        }
        pack(packed, width, out);
        push_number((run as u64) << 1, out);
        let value: u32 = (*first).into();
        out.extend(value.to_le_bytes().iter().take(width.div_ceil(8) as usize));
        rest = rest.split_at(run).1;
        (packed, from) = (&[], rest);
    }
    pack(packed, width, out);
}

fn pack<T: Copy + Into<u32>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    let groups = values.len().div_ceil(GROUP);
    push_number((groups as u64) << 1 | 1, out);
    let end = out.len() + groups * width as usize;
    let (mut bits, mut filled) = (0_u64, 0);
    for value in values {
        let value: u32 = (*value).into();
        bits |= u64::from(value) << filled;
        filled += width;
        if filled >= u32::BITS {
            out.extend_from_slice(&(bits as u32).to_le_bytes());
            bits >>= u32::BITS;
            filled -= u32::BITS;
        }
    }
    out.extend_from_slice(&(bits as u32).to_le_bytes());
    out.resize(end, 0);
}

/// Appends a number with seven bits per byte, the lowest first.
fn push_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes values as the specification defines them.
    fn decode(mut bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut take = || {
            let (first, rest) = bytes.split_first().unwrap();
            bytes = rest;
            *first
        };
        let mut values = Vec::new();
        while values.len() < count {
            let (mut header, mut shift) = (0_u64, 0);
            loop {
                let byte = take();
                header |= u64::from(byte & 0x7f) << shift;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            if header & 1 == 0 {
                let mut value = 0;
                for byte in 0..width.div_ceil(8) {
                    value |= u32::from(take()) << (8 * byte);
                }
                values.extend((0..header >> 1).map(|_| value));
            } else {
                let packed: Vec<u8> = (0..(header >> 1) * u64::from(width)).map(|_| take()).collect();
                values.extend((0..(header >> 1) as usize * GROUP).map(|index| {
                    (0..width as usize).fold(0, |value, bit| {
                        let place = index * width as usize + bit;
                        value | u32::from(packed[place / 8] >> (place % 8) & 1) << bit
                    })
                }));
            }
        }
        values.truncate(count);
        values
    }

    #[test]
    fn numbers_of_any_width_and_runs_are_read_back() {
        for width in 1..=20_u32 {
            let largest = (1_u32 << width) - 1;
            for count in [0, 1, 7, 8, 9, 63, 64, 65, 600] {
                let mixed: Vec<u32> = (0..count)
                    .map(|at: u32| at.wrapping_mul(0x9e37_79b9) >> 7 & largest)
                    .collect();
                let runs: Vec<u32> = (0..count).map(|at| (at / 13).min(largest)).collect();
                let equal = vec![largest; count as usize];
                let late: Vec<u32> = (0..count).map(|at| u32::from(at > 2)).collect();
                for values in [mixed, runs, equal, late] {
                    let mut out = Vec::new();
                    encode(&values, width, &mut out);
                    assert_eq!(decode(&out, width, values.len()), values, "{width} {count}");
                }
            }
        }
    }

    #[test]
    fn eight_equal_numbers_are_a_run_and_seven_are_packed() {
        let mut out = Vec::new();
        encode(&[1_u8; 8], 1, &mut out);
        assert_eq!(out, [16, 1]);
        out.clear();
        encode(&[1_u8; 7], 1, &mut out);
        assert_eq!(out, [3, 0x7f]);
    }

    #[test]
    fn the_width_is_that_of_the_largest() {
        assert_eq!([0, 1, 2, 3, 4, 255, 256].map(width), [0, 1, 2, 2, 3, 8, 9]);
    }
}
