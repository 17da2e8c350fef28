use std::sync::Arc;

use super::*;

fn object(address: AddressMode, filter: FilterMode, normalised: bool) -> TextureObject {
    let data = [10.0f32, 20.0, 30.0, 40.0].iter().flat_map(|f| f.to_le_bytes()).collect();
    TextureObject {
        data: Arc::new(data),
        width: 2,
        height: 2,
        channels: 1,
        format: TexelFormat::F32,
        address: [address; 2],
        filter,
        normalised_coordinates: normalised,
        read_as_integer: false,
    }
}

fn at(object: &TextureObject, x: f32, y: f32) -> f32 {
    let t =
        Texture { handle: 0, dims: 2, float_coordinates: true, coordinates: [0; 2], dst: [Some(0); 4], ty: Type::F32 };
    f32::from_bits(fetch(object, &t, [x.to_bits(), y.to_bits()])[0])
}

#[test]
fn points_are_the_texel_that_holds_them() {
    let o = object(AddressMode::Clamp, FilterMode::Point, false);
    assert_eq!([at(&o, 0.0, 0.0), at(&o, 1.99, 0.5), at(&o, 0.5, 1.0)], [10.0, 20.0, 30.0]);
    assert_eq!([at(&o, -5.0, 0.0), at(&o, 9.0, 9.0), at(&o, f32::NAN, f32::INFINITY)], [10.0, 40.0, 30.0]);
}

#[test]
fn linear_weights_have_eight_bits() {
    let o = object(AddressMode::Clamp, FilterMode::Linear, false);
    assert_eq!([at(&o, 0.5, 0.5), at(&o, 1.0, 0.5), at(&o, 1.0, 1.0)], [10.0, 15.0, 25.0]);
    assert_eq!(at(&o, 0.5 + 1.0 / 1024.0, 0.5), 10.0);
    assert_eq!(at(&o, 0.5 + 3.0 / 1024.0, 0.5), 10.0 + 10.0 / 256.0);
}

#[test]
fn outside_is_what_the_mode_says() {
    let wrap = object(AddressMode::Wrap, FilterMode::Point, true);
    let mirror = object(AddressMode::Mirror, FilterMode::Point, true);
    let border = object(AddressMode::Border, FilterMode::Point, true);
    let x = 1.25;
    assert_eq!([at(&wrap, x, 0.0), at(&mirror, x, 0.0), at(&border, x, 0.0)], [10.0, 20.0, 0.0]);
    assert_eq!([at(&wrap, -0.25, 0.0), at(&mirror, -0.25, 0.0)], [20.0, 10.0]);
}
